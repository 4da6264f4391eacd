"""Curves and pairs from Python: the same bytes as the command, functions that add up, a monotone column."""

import html

import numpy as np
import pandas as pd
import pytest

import rooco
from rooco import OnePassClassifier, OnePassRegressor


@pytest.fixture(scope="module")
def curved():
    r = np.random.default_rng(5)
    a, b, c = r.normal(size=4000), r.uniform(-2, 2, size=4000), r.integers(0, 2, size=4000)
    return np.column_stack([a, b, c]), np.abs(a) + b * c + 0.05 * r.normal(size=4000)


def test_functions_add_up_and_find_the_truth(curved):
    x, y = curved
    model = OnePassRegressor().fit(x, y)
    line = OnePassRegressor(features="linear").fit(x, y)
    assert model.score(x, y) > 0.97 > line.score(x, y) + 0.1
    names, parts = model.explain(x[:200])
    assert names[0] == "(constant)" and parts.shape == (200, len(names))
    assert np.allclose(parts.sum(axis=1), model.predict(x[:200]), rtol=1e-9, atol=1e-9)
    found = {f["name"]: f for f in model.shape_functions_}
    assert set(found) == {"x0", "x1", "x2", "x0 × x1", "x0 × x2", "x1 × x2"}
    assert model.shape_functions_[0]["importance"] == max(f["importance"] for f in found.values())
    curve = found["x0"]
    off = np.array(curve["value"]) - np.abs(curve["of"][0]["at"])
    assert np.ptp(off[2:-2]) < 0.3
    assert "x0 @ " in " ".join(model.get_feature_names_out())
    for attribute in ("coef_", "intercept_"):
        with pytest.raises(AttributeError, match="features='linear'"):
            getattr(model, attribute)
    with pytest.raises(AttributeError, match="features='auto'"):
        line.shape_functions_
    with pytest.raises(ValueError, match="linear, shapes, pairs, trees, auto"):
        OnePassRegressor(features="forest").fit(x, y)


def test_what_the_model_is_linear_in_is_said_and_why(tmp_path, curved):
    x, y = curved
    assert OnePassRegressor().fit(x, y).features_.startswith("2 curves, 3 pairs of columns (")
    assert OnePassRegressor(features="linear").fit(x, y).features_ == "4"
    for why, model in {
        "because of domain": OnePassRegressor(domain="ball:5"),
        "because of to_optimum": OnePassRegressor(to_optimum=True),
        "another algorithm than the default": OnePassRegressor(algorithm="sgd", l2=0.1),
        "features are corrected": OnePassRegressor(feature_noise=[0.01, 0.0, 0.0]),
    }.items():
        said = model.fit(x, y).features_
        assert said.startswith("4; no curves") and why in said, said
        assert html.escape(said) in model._repr_html_()
    # A file does not say what was asked for, and nothing is made up.
    OnePassRegressor(features="linear").fit(x, y).save(tmp_path / "m", with_state=True)
    assert rooco.load(tmp_path / "m").features_ == "4"
    # Asked for by name, nothing is withheld; few rows are said to be worth none.
    assert "no curves" not in OnePassRegressor(features="shapes", domain="ball:5").fit(x, y).features_
    assert "nothing here is worth a curve" in OnePassRegressor().fit(x[:12], y[:12]).features_


def test_heat_maps_leave_out_levels_that_no_row_had(curved):
    pytest.importorskip("matplotlib").use("agg")
    from rooco._plot import shapes

    side = dict(column="c", levels=["a", "b", "all others"], mass=[0.5, 0.5, 0.0])
    number = dict(column="x", at=[0.0, 1.0], mass=[1.0, 0.0])
    figure = shapes([dict(name="x × c", of=[number, side], value=[1.0, 2.0, 50.0, 3.0, -4.0, 60.0])])
    image = figure.axes[0].images[0]
    assert image.get_array().tolist() == [[1.0, 3.0], [2.0, -4.0]] and image.get_clim() == (-4.0, 4.0)
    assert [t.get_text() for t in figure.axes[0].get_yticklabels()] == ["a", "b"]


@pytest.mark.parametrize("features", ["auto", "shapes", "pairs"])
def test_the_same_bytes_as_the_command(program, tmp_path, curved, features):
    x, y = curved
    table = pd.DataFrame(x, columns=list("abc"))
    table["y"] = y
    table.to_csv(tmp_path / "t.csv", index=False)
    program("fit", tmp_path / "t.csv", "--target", "y", "--features", features, "-m", tmp_path / "m", "--quiet")
    mine = OnePassRegressor(features=features).fit_file(tmp_path / "t.csv", target="y")
    assert mine.model_.to_bytes() == (tmp_path / "m").read_bytes()


def test_a_monotone_column_and_several_classes(curved):
    x, y = curved
    table = pd.DataFrame(x, columns=list("abc"))
    model = OnePassRegressor(monotonic_cst={"a": 1}).fit(table, y)
    grid = pd.DataFrame({"a": np.linspace(-6, 6, 200), "b": 0.5, "c": 1.0})
    assert (np.diff(model.predict(grid)) >= -1e-12).all()
    classes = np.digitize(y, [0.3, 1.0])
    several = OnePassClassifier().fit(x, classes)
    assert several.score(x, classes) > 0.9
    assert len(several.shape_functions_) == 3
    with pytest.raises(ValueError, match="several classes"):
        OnePassClassifier(monotonic_cst={"a": 1}).fit(table, classes)


def test_trees_and_features_by_column(program, tmp_path):
    r = np.random.default_rng(4)
    table = pd.DataFrame(r.uniform(-1, 1, size=(25_000, 4)).round(6), columns=list("abcd"))
    table["y"] = np.sign(table.a * table.b * table.c) + 0.1 * r.normal(size=len(table)).round(6)
    x, y = table.drop(columns="y"), table.y
    model = OnePassRegressor().fit(x, y)
    assert model.score(x, y) > OnePassRegressor(features="pairs").fit(x, y).score(x, y) + 0.4
    assert "trees" in model.features_ and model.shape_functions_[0]["kind"] == "trees"
    names, parts = model.explain(x[:100])
    assert names[-1] == "trees"
    assert np.allclose(parts.sum(axis=1), model.predict(x[:100]), rtol=1e-9, atol=1e-9)
    assert sum("tree 1 leaf" in name for name in model.get_feature_names_out()) > 2
    # A dict by column is what the command says, and what the schema file says.
    table[:3000].to_csv(tmp_path / "t.csv", index=False)
    program("fit", tmp_path / "t.csv", "--target", "y", "--features", "pairs,d=linear", "-m", tmp_path / "m", "--quiet")
    own = OnePassRegressor(features={"*": "pairs", "d": "linear"}).fit_file(tmp_path / "t.csv", target="y")
    assert own.model_.to_bytes() == (tmp_path / "m").read_bytes()
    (tmp_path / "s.toml").write_text('[features]\nkind = "pairs"\nlinear = ["d"]\n')
    by_file = OnePassRegressor().fit_file(tmp_path / "t.csv", target="y", schema=tmp_path / "s.toml")
    assert by_file.model_.to_bytes() == (tmp_path / "m").read_bytes()
    with pytest.raises(ValueError, match="a single column is linear"):
        OnePassRegressor(features={"d": "pairs"}).fit_file(tmp_path / "t.csv", target="y")


def test_curves_are_drawn(curved):
    pytest.importorskip("matplotlib").use("agg")
    x, y = curved
    figure = OnePassRegressor().fit(x, y).plot_shapes(top=4)
    assert sum(panel.get_visible() for panel in figure.axes) >= 4


def test_pairs_that_are_named(program, tmp_path, curved):
    x, y = curved
    table = pd.DataFrame(x, columns=list("abc"))
    model = OnePassRegressor(features="shapes", interactions=[("b", "c")]).fit(table, y)
    assert {f["name"] for f in model.shape_functions_} == {"a", "b", "c", "b × c"}
    assert model.score(table, y) > OnePassRegressor(features="shapes").fit(table, y).score(table, y) + 0.1
    with pytest.raises(ValueError, match="did you mean `b`"):
        OnePassRegressor(interactions=[("a", "bb")]).fit(table, y)
    table["y"] = y
    table.to_csv(tmp_path / "t.csv", index=False)
    program("fit", tmp_path / "t.csv", "--target", "y", "--features", "linear", "--interactions", "b:c", "-m", tmp_path / "m", "--quiet")
    mine = OnePassRegressor(features="linear", interactions=[("b", "c")]).fit_file(tmp_path / "t.csv", target="y")
    assert mine.model_.to_bytes() == (tmp_path / "m").read_bytes()


def test_namespaces_of_vowpal_wabbit_text_are_crossed(program, tmp_path):
    r = np.random.default_rng(4)
    u, i, y = r.integers(0, 3, 2000), r.integers(0, 3, 2000), 0.1 * r.normal(size=2000)
    y += np.where((u + i) % 2 == 0, 1.0, -1.0)
    (tmp_path / "t.vw").write_text("".join(f"{c} |user u{a} |item i{b}\n" for a, b, c in zip(u, i, y)))
    model = OnePassRegressor(interactions=[("user", "item")]).fit_file(tmp_path / "t.vw")
    assert "user^u1*item^i2" in set(model.coef_names_)
    assert np.mean((model.predict_file(tmp_path / "t.vw") - y) ** 2) < 0.05
    program("fit", tmp_path / "t.vw", "--interactions", "user:item", "-m", tmp_path / "m", "--quiet")
    model.save(tmp_path / "mine")
    assert (tmp_path / "mine").read_bytes() == (tmp_path / "m").read_bytes()
    with pytest.raises(ValueError, match="there is no namespace `usr` in the first rows to take in a pair; did you mean `user`"):
        OnePassRegressor(interactions=[("usr", "item")]).fit_file(tmp_path / "t.vw")
