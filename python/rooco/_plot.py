"""Curves and pairs of a model, drawn by matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np


def shapes(effects: list[dict[str, Any]]) -> Any:
    """A figure with a panel for each function: curves with the density of their column below, categories as bars, pairs as heat maps."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plot_shapes draws with matplotlib: pip install matplotlib") from None

    columns = min(3, max(1, len(effects)))
    rows = -(-len(effects) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(4 * columns, 3 * rows), squeeze=False, layout="constrained")
    for panel, effect in zip(axes.flat, effects):
        panel.set_title(effect["name"], fontsize="medium")
        value = np.array(effect["value"])
        if len(effect["of"]) == 2:
            first, second = effect["of"]
            # A level that none of the first rows had says nothing about them.
            kept = [np.flatnonzero(np.array(side["mass"]) > 0) if "levels" in side else np.arange(len(side["mass"])) for side in (first, second)]
            picture = value.reshape(len(first["mass"]), len(second["mass"]))[np.ix_(*kept)].T
            most = np.abs(picture).max() if picture.size else 0.0
            most = most or 1.0
            image = panel.imshow(picture, origin="lower", aspect="auto", cmap="RdBu_r", vmin=-most, vmax=most)
            for side, own, set_ticks in ((first, kept[0], panel.set_xticks), (second, kept[1], panel.set_yticks)):
                names = side.get("levels") or [f"{x:.3g}" for x in side["at"]]
                places = [names[k] for k in own]
                shown = np.unique(np.linspace(0, len(places) - 1, min(6, len(places))).astype(int))
                set_ticks(shown, [places[k] for k in shown], fontsize="small")
            panel.set(xlabel=first["column"], ylabel=second["column"])
            figure.colorbar(image, ax=panel)
            continue
        (side,) = effect["of"]
        mass = np.array(side["mass"])
        if "levels" in side:
            # The most frequent values; of trees the leaves that add most.
            order = np.argsort(-mass * (np.abs(value) if effect["kind"] == "trees" else 1.0))[:20]
            panel.barh([side["levels"][k] for k in order], value[order])
            panel.invert_yaxis()
        else:
            panel.plot(side["at"], value)
            low, high = panel.get_ylim()
            panel.vlines(side["at"], low, low + 0.2 * (high - low) * mass / (mass.max() or 1.0), alpha=0.4, linewidth=3)
            panel.set_ylim(low, high)
        panel.axhline(0, color="grey", linewidth=0.5) if "at" in side else panel.axvline(0, color="grey", linewidth=0.5)
    for panel in axes.flat[len(effects) :]:
        panel.set_visible(False)
    return figure
