"""Writes bench/QUALITY.md from the results of bench/quality.py."""

import math
import statistics

import quality_data as data

RATES = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10]
COLUMNS = ["rooco", "rooco first order", "vw", "vw best", "vw coin", "sklearn one pass", "batch"]
TITLES = ["rooco", "first order only", "VW default", "VW best rate", "VW coin", "scikit-learn one pass", "batch"]


def figure(x):
    if x is None:
        return ""
    if math.isnan(x):
        return "not finite"
    if x > 1e6:
        return f"{x:.1e} (diverged)"
    return f"{x:.2f}" if x >= 10 else (f"{x:.5f}" if x < 0.05 else f"{x:.4f}")


def collect(results, name, kind, learner):
    """Losses by order."""
    found = {}
    for key, value in results.items():
        n, k, order, l = key.split("/", 3)
        if (n, k, l) == (name, kind, learner) and "loss" in value:
            found[int(order)] = value["loss"]
    return found


def best_rate(results, name):
    """Per order, the best of the eight rates ON THE TEST SET."""
    by_rate = [collect(results, name, "clean", f"vw -l {rate}") for rate in RATES]
    orders = set.intersection(*(set(r) for r in by_rate)) if by_rate else set()
    return {o: min(r[o] for r in by_rate) for o in orders}


def mean_and_error(losses):
    values = [v for v in losses.values() if not math.isnan(v)]
    if not values:
        return None, None
    mean = statistics.fmean(values)
    return mean, (statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None)


def cell(losses):
    mean, error = mean_and_error(losses)
    if mean is None:
        return "not finite" if losses else ""
    return figure(mean) + (f" ± {error:.1g}" if error is not None else "")


def signed_verdicts(results):
    """What was asked of rooco's signed runs, with the ratio of the mean losses, signed over clean."""

    def ratio(name, kind):
        clean, signed = (collect(results, name, k, "rooco") for k in ("clean", kind))
        common = set(clean) & set(signed)
        return statistics.fmean(signed[o] for o in common) / statistics.fmean(clean[o] for o in common) if common else None

    asked = [(name, "negative25", 1.01) for name in ("nyclate", "acs", "flights", "nycreg")]
    asked += [("clickbait", "negative25", 1.35), ("clickbait", "negative40", 1.6)]
    parts = []
    for name, kind, limit in asked:
        r = ratio(name, kind)
        if r is not None:
            parts.append(f"{name} at {kind[-2:]} % {r:.3f} (at most {limit}: {'yes' if r <= limit else 'NO'})")
    return [f"rooco's loss over its clean loss, same orders: {', '.join(parts)}.", ""] if parts else []


def write(results):
    out = ["# Quality of one pass", ""]
    out += [
        "Written by `bench/quality.py DATA`; do not edit. Log-loss on held-out rows, mean squared error for diamonds, diamraw, nycreg, nycregraw.",
        "Mean ± standard error over row orders. The second column says how many orders rooco and VW were run on; the ratios use the orders that both have.",
        "rooco has no options. \"VW best rate\" is the best of 8 values of `-l` picked on the test set for each order, which flatters VW;",
        "batch is scikit-learn's `Ridge(1e-3)` or `LogisticRegression` with the best C of 0.1, 1, 10 picked on the test set.",
        "Features are divided by their largest absolute value for scikit-learn.",
        "\"First order only\" leaves out the second-order candidate of sets with at most 256 features (elsewhere it is the same run).",
        "",
        "| set | orders, rooco / VW | " + " | ".join(TITLES) + " | rooco / VW | / best rate | / batch |",
        "|---|---|" + "---|" * (len(COLUMNS) + 3),
    ]
    worse_default, worse_best, near_batch, sets = [], [], [], 0
    for name in data.SETS:
        columns = {c: (best_rate(results, name) if c == "vw best" else collect(results, name, "clean", c)) for c in COLUMNS}
        if not columns["rooco"]:
            continue
        sets += 1
        if not columns["rooco first order"]:
            columns["rooco first order"] = columns["rooco"]

        def ratio(c):
            common = set(columns["rooco"]) & set(columns[c]) if c != "batch" else set(columns["rooco"])
            if not common or not columns[c]:
                return None
            mine = statistics.fmean(columns["rooco"][o] for o in common)
            other = columns[c][0] if c == "batch" else statistics.fmean(columns[c][o] for o in common)
            return mine / other

        ratios = [ratio(c) for c in ("vw", "vw best", "batch")]
        if ratios[0] and ratios[0] > 1:
            worse_default.append(name)
        if ratios[1] and ratios[1] > 1.01:
            worse_best.append(name)
        if ratios[2] and ratios[2] <= 1.005:
            near_batch.append(name)
        shown = " | ".join("" if r is None else f"{r:.3f}" for r in ratios)
        out.append(f"| {name} | {len(columns['rooco'])} / {len(columns['vw best'])} | " + " | ".join(cell(columns[c]) for c in COLUMNS) + f" | {shown} |")
    out += [
        "",
        f"Worse than VW's default: {', '.join(worse_default) or 'none'}. More than 1.01 times VW's best rate: {', '.join(worse_best) or 'none'}. "
        f"Within 0.5 % of batch or better: {len(near_batch)} of {sets}.",
    ]
    digits = {k.split("/", 3)[3]: v for k, v in results.items() if k.startswith("digits/clean/0/")}
    if digits:
        out += ["", "## Ten classes: MNIST digits, one pass, one order", "", "| learner | test accuracy |", "|---|---|"]
        if "rooco" in digits:
            out.append(f"| rooco (softmax, no options) | {digits['rooco']['accuracy']:.4f} |")
        if "vw" in digits:
            out.append(f"| VW `--oaa 10`, default | {digits['vw']['accuracy']:.4f} |")
        rates = {r: digits[f"vw -l {r}"]["accuracy"] for r in RATES if f"vw -l {r}" in digits}
        if rates:
            best = max(rates, key=rates.get)
            out.append(f"| VW `--oaa 10`, best of {len(rates)} rates on the test set (`-l {best}`) | {rates[best]:.4f} |")
    out += [
        "",
        "## Signed weights",
        "",
        "25 % (40 %) negative mass: every row twice, with weights 1.5 and -0.5 (3 and -2), shuffled apart; the sum is the clean problem.",
        "Noisy labels: flipped with rates 0.3 and 0.1 and corrected, by two signed rows shuffled apart, or as one composite row (rooco only).",
        "VW drops rows of negative weight. In the 25 and 40 % columns that happens to leave the clean problem; with noisy labels it leaves the noise.",
        "Ridge stops with an error on negative weights: it takes the square root of each.",
        "",
    ]
    out += signed_verdicts(results)
    for learner, title in [
        ("rooco", "rooco, no options"),
        ("vw", "VW default (drops the negative rows)"),
        ("sklearn one pass", "scikit-learn SGD, one pass (takes them without a word)"),
        ("batch", "scikit-learn batch (C = 1), order 0"),
    ]:
        rows = []
        for name in data.SETS:
            cells = [cell(collect(results, name, "clean", learner))]
            any_signed = False
            for kind in ("negative25", "negative40", "noisy-two", "noisy-one"):
                losses = collect(results, name, kind, learner)
                refused = [v["refused"] for k, v in results.items() if k.startswith(f"{name}/{kind}/") and k.endswith("/" + learner) and "refused" in v]
                text = cell(losses) or (f"refused: {refused[0]}" if refused else "")
                if losses or refused:
                    any_signed = True
                cells.append(text)
            if any_signed:
                orders = max(len(collect(results, name, k, learner)) for k in ("negative25", "negative40", "noisy-two", "noisy-one"))
                rows.append(f"| {name} | {orders} | " + " | ".join(cells) + " |")
        if rows:
            out += [f"### {title}", "", "| set | orders | clean | 25 % | 40 % | noisy, two rows | noisy, one row |", "|---|---|---|---|---|---|---|"] + rows + [""]
    return "\n".join(out).rstrip() + "\n"
