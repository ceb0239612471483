"""The command line: the printed tables to their last digit, and one clear line for a wrong value."""

import json
import math

import numpy as np
import pytest
from fuzz.command_line import ended

import explorer as ex
from explorer.cli import main
from explorer.engine.information import score_surface


def fisher(capsys, *arguments):
    assert main(["fisher", "--json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def rounds_to(value: float, printed: str) -> bool:
    """Whether a number is the printed one, to the digits that were printed."""
    decimals = len(printed.partition(".")[2])
    return abs(value - float(printed)) <= 0.5000001 * 10**-decimals


# epsilon, half-width and F[mu,mu] at the best interval, score mu
LAPLACE_OPTIMA = [
    ("0.5", "0.0192", "0.033245"),
    ("1", "0.0706", "0.108872"),
    ("2", "0.2234", "0.285997"),
    ("5", "0.7281", "0.612222"),
    ("10", "1.2244", "0.804410"),
]

# epsilon: Laplace, sign + randomised response, Piecewise
MECHANISMS = {
    "0.5": (".0332", ".0382", ".0346"),
    "1": (".1089", ".1360", ".1182"),
    "2": (".2860", ".3693", ".3421"),
    "3": (".4312", ".5216", ".5527"),
    "5": (".6122", ".6197", ".8144"),
    "10": (".8044", ".6365", ".9793"),
}


def test_best_intervals_for_mu(capsys):
    rows = fisher(capsys, "--epsilon", *[row[0] for row in LAPLACE_OPTIMA])
    for row, (_, half, value) in zip(rows, LAPLACE_OPTIMA, strict=True):
        assert row["a"] == -row["b"]
        assert rounds_to(row["b"], half)
        assert rounds_to(row["score"], value)
        assert row["score"] == pytest.approx(row["mu_mu"], rel=1e-12)


def test_best_intervals_that_are_not_symmetric(capsys):
    (row,) = fisher(capsys, "--epsilon", "2", "--score", "trace")
    assert rounds_to(row["a"], "0.383")
    assert rounds_to(row["b"], "0.832")
    (row,) = fisher(capsys, "--epsilon", "5", "--score", "sigma")
    assert rounds_to(row["a"], "1.015")
    assert rounds_to(row["b"], "1.688")


def test_the_plateau_at_epsilon_one(capsys):
    (best,) = fisher(capsys, "--epsilon", "1")
    for h in ("0.005", "0.02", "0.07", "0.12"):
        (row,) = fisher(capsys, "--epsilon", "1", "--interval", f"-{h}", h)
        assert 0 <= 1 - row["mu_mu"] / best["mu_mu"] < 0.002


@pytest.mark.parametrize("epsilon", MECHANISMS)
def test_mechanisms_side_by_side(capsys, epsilon):
    rows = fisher(
        capsys, "--epsilon", epsilon, "--mechanism", "laplace", "randomized_response", "piecewise", "--symmetric"
    )
    laplace, sign, window = rows
    assert rounds_to(laplace["mu_mu"], MECHANISMS[epsilon][0])
    assert rounds_to(sign["mu_mu"], MECHANISMS[epsilon][1])
    assert sign["mu_mu"] == pytest.approx(2 / math.pi * math.tanh(float(epsilon) / 2) ** 2, rel=1e-12)
    if epsilon == "10":  # the printed one is a local maximum, at 2.18; reaching further out is better
        assert window["mu_mu"] > 0.9793
        (window,) = fisher(capsys, "--epsilon", "10", "--mechanism", "piecewise", "--interval", "-2.18", "2.18")
    assert rounds_to(window["mu_mu"], MECHANISMS[epsilon][2])


@pytest.mark.parametrize(("epsilon", "half"), [("1", ".28"), ("2", ".61"), ("3", ".87"), ("5", "1.31")])
def test_best_half_widths_of_piecewise(capsys, epsilon, half):
    (row,) = fisher(capsys, "--epsilon", epsilon, "--mechanism", "piecewise")
    assert rounds_to(row["b"], half)


def test_information_about_sigma_at_the_interval_for_mu(capsys):
    laplace_2, _, laplace_5, window_5 = fisher(capsys, "--epsilon", "2", "5", "--mechanism", "laplace", "piecewise")
    # at epsilon = 2 the printed figure is that of the rounded interval, 0.61 for 0.6072
    (window_2,) = fisher(capsys, "--epsilon", "2", "--mechanism", "piecewise", "--interval", "-0.61", "0.61")
    for row, printed in ((laplace_2, ".0034"), (window_2, ".143"), (laplace_5, ".175"), (window_5, "1.154")):
        assert rounds_to(row["sigma_sigma"], printed)


@pytest.mark.parametrize(("epsilon", "found"), [("0.5", ".0382"), ("1", ".1360"), ("2", ".3693")])
def test_best_mechanism_of_all(capsys, epsilon, found):
    (row,) = fisher(capsys, "--epsilon", epsilon)
    assert rounds_to(row["best_ldp_mu_mu"], found)


@pytest.mark.parametrize(("epsilon", "earlier"), [("3", 0.5934), ("5", 0.8551), ("10", 0.9894)])
def test_the_best_mechanism_is_at_least_as_good_as_one_found_earlier(capsys, epsilon, earlier):
    (row,) = fisher(capsys, "--epsilon", epsilon)
    assert earlier <= row["best_ldp_mu_mu"] < earlier + 0.005


def test_efficiencies(capsys):
    (row,) = fisher(capsys, "--epsilon", "2", "--score", "trace", "--family", "logistic")
    assert row["of_no_privacy"] == pytest.approx(row["score"] / (1 / 3 + (3 + math.pi**2) / 9), rel=1e-12)
    assert row["of_best_ldp"] == pytest.approx(row["mu_mu"] / row["best_ldp_mu_mu"], rel=1e-12)
    assert (row["family"], row["score_name"], row["delta"]) == ("Logistic()", "trace", 0.0)


def test_a_score_that_one_mechanism_cannot_have_leaves_the_others(capsys):
    rows = fisher(capsys, "--epsilon", "1", "--mechanism", "all", "--score", "det")
    assert [row["score"] is None for row in rows] == [False, False, True, False]
    assert main(["fisher", "--epsilon", "1", "--mechanism", "all", "--score", "det"]) == 0
    assert "–" in capsys.readouterr().out


@pytest.mark.parametrize("ending", ["csv", "npz"])
def test_the_surface_as_a_file(capsys, tmp_path, ending):
    path = tmp_path / f"surface.{ending}"
    options = [
        "--epsilon",
        "2",
        "--score",
        "sigma",
        "--resolution",
        "7",
        "--limits",
        "-1e0",
        "2",
        "--surface",
        str(path),
    ]
    assert main(["fisher", *options]) == 0
    assert capsys.readouterr().out == f"Wrote 21 intervals to {path}\n"
    expected = score_surface(2.0, resolution=7, limits=(-1, 2), score="sigma")
    if ending == "npz":
        with np.load(path) as file:
            for name, array in expected._asdict().items():
                np.testing.assert_array_equal(file[name], array)
    else:
        table = np.genfromtxt(path, delimiter=",", names=True)
        assert table.dtype.names == ("a", "b", "score")
        np.testing.assert_array_equal(table["score"], expected.values[~np.isnan(expected.values)])


def test_the_table_is_readable(capsys):
    assert main(["fisher", "--epsilon", "1", "--mechanism", "all"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:4] == ["epsilon", "mechanism", "a", "b"]
    assert [line.split()[1] for line in lines[2:6]] == ["laplace", "gaussian", "randomized_response", "piecewise"]
    assert len({len(line) for line in lines[1:6]}) == 1
    assert "Without privacy: F[μ,μ] = 1.0000, F[σ,σ] = 2.0000." in lines


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--epsilon", "0"], "epsilon must be a finite number above 0, got 0.0"),
        (["--epsilon", "nan"], "argument --epsilon: must be a finite number, got 'nan'"),
        (["--epsilon", "one"], "argument --epsilon: invalid float value: 'one'"),
        (["--interval", "2", "1"], "a must be below b, got a=2 and b=1"),
        (["--mechanism", "exponential"], "mechanism must be one of 'laplace', 'gaussian'"),
        (["--family", "cauchy"], "family must be one of 'normal', 'student_t'"),
        (["--family", "normal", "--df", "3"], "family 'normal' does not take df"),
        (["--family", "student_t", "--df", "-3"], "df must be a finite number above 0, got -3.0"),
        (["--score", "best"], "score must be one of 'mu', 'sigma'"),
        (["--mechanism", "gaussian", "--delta", "2"], "delta must lie strictly between 0 and 1, got 2.0"),
        (["--score", "det", "--mechanism", "randomized_response"], "score must differ from 0 for some interval"),
        (["--epsilon", "-inf"], "argument --epsilon: must be a finite number, got '-inf'"),
        (["--epsilon", "1e300", "--mechanism", "piecewise"], "epsilon must lie between 1e-06 and 500"),
        (["--surface", "map.csv"], "--surface takes one epsilon and one mechanism, got 6 combinations"),
        (["--epsilon", "1", "--surface", "map.txt"], "--surface must end in .csv or .npz, got 'map.txt'"),
        (
            ["--epsilon", "1", "--surface", "nowhere/map.csv"],
            "nowhere/map.csv cannot be written: there is no such folder",
        ),
        (["--epsilon", "1", "--surface", "map.csv", "--limits", "1", "0"], "limits must be two numbers"),
        (["--epsilon", "1", "--surface", "map.csv", "--symmetric"], "takes neither --interval nor --symmetric"),
        (["--nonsense"], "unrecognized arguments: --nonsense"),
    ],
)
def test_a_wrong_value_gets_one_line_and_exit_code_2(capsys, arguments, message):
    assert ended(["fisher", *arguments]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert message in output.err
    assert output.err.count("\n") == 1


def test_no_command_prints_help(capsys):
    assert main([]) == 2
    assert "fisher" in capsys.readouterr().out
    with pytest.raises(SystemExit) as exit_:
        main(["nonsense"])
    assert exit_.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def simulate(capsys, *arguments):
    particles = [] if "grid" in arguments else ["--particles", "200"]
    assert main(["simulate", "--json", "--seed", "1", *particles, *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def test_simulate_prints_the_run_that_python_makes(capsys, tmp_path):
    path = tmp_path / "trace.npz"
    found = simulate(capsys, "-n", "30", "--epsilon", "5", "--mechanism", "piecewise", "--out", str(path))
    trace = ex.simulate(n=30, epsilon=5.0, mechanism="piecewise", seed=1, particles=200)
    assert [step["t"] for step in found["steps"]] == [1, 2, 5, 10, 20, 30]
    for step in found["steps"]:
        at = step["t"] - 1
        assert (step["left"], step["right"], step["y"]) == (trace.left[at], trace.right[at], trace.y[at])
        assert (step["mu"], step["sigma"]) == tuple(trace.mean[at])
        assert step["quantiles"]["0.975"] == trace.quantiles[at, 2].tolist()
    np.testing.assert_array_equal(ex.Trace.load(path).mean, trace.mean)
    assert found["settings"]["epsilon"] == 5


@pytest.mark.parametrize(
    "arguments",
    [
        ["--sampler", "grid", "--policy", "plug_in"],
        ["--sampler", "resample_move", "--resampling", "systematic", "--subset", "5"],
        ["--mechanism", "gaussian", "--delta", "1e-6", "--policy", "pseudo_bayesian"],
        ["--mechanism", "randomized_response", "--policy", "oracle", "--score", "mu|sigma"],
        ["--family", "student_t", "--df", "3", "--prior", "40", "100", "3", "8"],
        ["--policy", "fixed", "--first-interval", "-10", "90"],
    ],
    ids=" ".join,
)
def test_simulate_takes_every_option(capsys, arguments):
    found = simulate(capsys, "-n", "8", "--epsilon", "3", *arguments)
    assert math.isfinite(found["steps"][-1]["mu"])
    if "fixed" in arguments:
        assert {(step["left"], step["right"]) for step in found["steps"]} == {(-10, 90)}


def test_the_table_of_a_run_is_readable(capsys):
    assert main(["simulate", "-n", "12", "--seed", "1", "--particles", "50"]) == 0
    captured = capsys.readouterr()
    title, explanation, header, *rows = captured.out.splitlines()
    assert title == "Normal() population, mu = 50, sigma = 3.16228; LaplaceMechanism(epsilon=1)"
    assert "medians" in explanation
    assert header.split() == ["t", "l", "r", "y", "mu", "from", "to", "sigma", "from", "to", "ess"]
    assert [row.split()[0] for row in rows] == ["1", "2", "5", "10", "12"]
    assert len({len(row) for row in [header, *rows]}) == 1
    assert "12 answers in" in captured.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-n", "0"], "n must be a whole number of at least 1, got 0"),
        (["--epsilon", "-1"], "epsilon must be a finite number above 0, got -1.0"),
        (["--sigma", "0"], "sigma must be a finite number above 0, got 0.0"),
        (["--policy", "greedy"], "policy must be one of 'thompson'"),
        (["--sampler", "gibbs"], "sampler must be one of 'marginal'"),
        (["--subset", "3"], "sampler 'marginal' does not take subset"),
        (["--first-interval", "2", "1"], "left must be below right"),
        (["--out", "trace.csv"], "--out must end in .npz, got 'trace.csv'"),
        (["--out", "no/such/folder/trace.npz"], "there is no such folder"),
        (["--prior", "0", "-1", "1", "1"], "variance must be a finite number above 0, got -1.0"),
        (["--seed", "-3"], "seed must be a whole number of at least 0, got -3"),
        (["--df", "3"], "family 'normal' does not take df"),
        (["--sigma", "1e308"], "mu and sigma are too large for a population of finite values"),
        (["--keep", "0", "--out", "x.npz"], "keep must be a whole number of at least 1, got 0"),
        (["--policy", "fixed", "--score", "nonsense"], "score must be one of 'mu', 'sigma'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_simulate_tells_a_wrong_value_in_one_line(capsys, arguments, message):
    assert main(["simulate", "-n", "3", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--port", "70000"], "port must lie between 0 and 65535, got 70000"),
        (["--num-procs", "0"], "--num-procs must be at least 1, got 0"),
        (["--num-procs", "2", "--port", "0"], "--num-procs needs a port that all processes share"),
        (["--allow-origin", "http://elsewhere/"], "--allow-origin must be a host, or host:port"),
        (["--basic-auth", ""], "--basic-auth: must not be empty"),
        (["--computations", "0"], "a limit must be at least 1"),
        (["--max-upload", "-1"], "a limit must be at least 1"),
    ],
)
def test_serve_tells_what_is_wrong_before_it_starts(capsys, arguments, told):
    assert ended(["serve", "--no-browser", *arguments]) == 2
    out, error = capsys.readouterr()
    assert told in error
    assert error.count("\n") == 1
    assert out == ""


def test_serve_hands_its_options_on():
    from explorer.server import _options

    options = _options(8000, "0.0.0.0", ["lecture.example:8000"], "secret", 2)
    assert options.pop("cookie_secret")
    assert options.pop("basic_login_template").endswith("login.html")
    assert options == {
        "port": 8000,
        "address": "0.0.0.0",
        "websocket_origin": ["lecture.example:8000"],
        "basic_auth": "secret",
        "num_procs": 2,
    }


def refuse(token):
    raise AssertionError(f"{token} is no JSON")


def test_an_audit_as_json_is_what_any_reader_of_json_takes(capsys):
    options = (
        ["--as-coded"],
        ["--interval", "-1e300", "1e300"],
        ["--mechanism", "laplace", "--interval", "0", "1e-322"],
    )
    for option in options:
        main(["audit", "--json", "--seed", "1", "--trials", "2000", *option])
        for row in json.loads(capsys.readouterr().out, parse_constant=refuse):
            ends = [float(end) for pair in row["event"]["ranges"] for end in pair]
            assert any(math.isinf(end) for end in ends), "an event that is a half-line"
            assert row["event"]["count"] <= row["event"]["answers"] == 1000


def test_mechanisms_to_audit_add_up(capsys):
    names = ["piecewise", "laplace", "randomized_response"]
    for spelled in (["--mechanism", *names], ["--mechanism", names[0], "--mechanism", *names[1:]]):
        assert main(["audit", "--json", "--trials", "100", "--seed", "1", *spelled]) == 0
        claims = [row["claim"] for row in json.loads(capsys.readouterr().out)]
        assert claims == ["Piecewise(epsilon=1)", "LaplaceMechanism(epsilon=1)", "RandomizedResponse(epsilon=1)"]


def test_the_noise_of_the_authors_code_is_laplace(capsys):
    assert main(["audit", "--as-coded", "--mechanism", "laplace", "--seed", "1"]) == 1
    told = capsys.readouterr().out
    assert main(["audit", "--as-coded", "--seed", "1"]) == 1
    assert capsys.readouterr().out == told


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--as-coded", "--mechanism", "piecewise"], "--as-coded is laplace noise, got --mechanism piecewise"),
        (["--as-coded", "--mechanism", "laplace", "gaussian"], "--as-coded is laplace noise, got --mechanism laplace"),
        (["--as-coded", "--mechanism", "all"], "--as-coded is laplace noise, got --mechanism all"),
        (["--as-coded", "--delta", "0.1"], "--as-coded is laplace noise, which has no --delta"),
        (["--as-coded", "--epsilon", "1e6"], "epsilon must be at most 707107 for the noise of the author's code"),
        (["--mechanism", "laplace", "laplace"], "--mechanism names laplace twice"),
        (["--mechanism", "all", "--mechanism", "all"], "--mechanism names all twice"),
        (["--mechanism", "all", "laplace"], "--mechanism all stands alone, got all laplace"),
        (["--mechanism", "magic"], "mechanism must be one of 'laplace', 'gaussian'"),
        (["--trials", "1000000000000"], "trials must be at most 10000000, got 1000000000000"),
        (["--trials", "10000001"], "trials must be at most 10000000, got 10000001"),
        (["--trials", "0"], "trials must be a whole number of at least 20, got 0"),
        (["--trials", "1e3"], "invalid int value: '1e3'"),
        (["--interval", "nan", "1"], "argument --interval: must be a finite number, got 'nan'"),
        (["--interval", "0", "inf"], "argument --interval: must be a finite number, got 'inf'"),
        (["--interval", "2", "1"], "left must be below right, got left=2 and right=1"),
        (["--interval", "1", "1"], "left must be below right, got left=1 and right=1"),
        (["--interval", "-1e308", "1e308"], "right - left must be finite"),
        (["--confidence", "0"], "confidence must lie strictly between 0 and 1, got 0.0"),
        (["--confidence", "1"], "confidence must lie strictly between 0 and 1, got 1.0"),
        (["--confidence", "nan"], "argument --confidence: must be a finite number, got 'nan'"),
        (["--seed", "-1"], "seed must be None or a whole number that is not negative, got -1"),
        (["--epsilon", "nan"], "argument --epsilon: must be a finite number, got 'nan'"),
        (["--epsilon", "1e-7"], "epsilon must lie between 1e-06 and 1e+06 for the laplace mechanism"),
        (["--delta", "0"], "delta must lie strictly between 0 and 1, got 0.0"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_audit_tells_a_wrong_value_in_one_line(capsys, arguments, message):
    try:
        code = main(["audit", *arguments])
    except SystemExit as exit_:  # argparse's own way out
        code = exit_.code
    output = capsys.readouterr()
    assert code == 2
    assert output.out == ""
    assert message in output.err
    assert output.err.count("\n") == 1


def test_an_audit_that_does_not_fit_into_memory_is_told_in_one_line(capsys, monkeypatch):
    def full(self, *given):
        raise MemoryError

    monkeypatch.setattr("explorer.engine.privacy.audit.measured", full)
    assert main(["audit", "--trials", "100"]) == 2
    assert capsys.readouterr().err == "explorer audit: --trials 100 takes more memory than there is\n"


# ---- options that would have no effect

FISHER, SIMULATE = ["fisher", "--epsilon", "1"], ["simulate", "-n", "3", "--seed", "1"]
STUDY = ["study", "--epsilon", "5", "-n", "5", "--replicates", "1", "--workers", "1", "--json"]
COLLECT = ["collect", "--csv", "people.csv", "--epsilon", "5", "--expect", "150", "200"]
AUDIT = ["audit", "--trials", "100", "--seed", "1"]
MAP, TRACE, GAUSSIAN = ["--surface", "map.csv"], ["--out", "trace.npz"], ["--mechanism", "gaussian"]

# a command, an option, what lets the option have an effect, and what takes that effect away
IDLE = [
    (AUDIT, ["--delta", "0.5"], GAUSSIAN, ["--mechanism", "laplace", "piecewise"]),
    (AUDIT, ["--delta", "0.5"], ["--mechanism", "all"], ["--as-coded"]),
    (FISHER, ["--delta", "0.5"], ["--mechanism", "all"], []),
    (SIMULATE, ["--delta", "0.5"], GAUSSIAN, []),
    (STUDY, ["--delta", "0.5"], [*GAUSSIAN, "laplace"], ["--mechanism", "laplace", "piecewise"]),
    (COLLECT, ["--delta", "0.5"], GAUSSIAN, []),
    (FISHER, ["--df", "3"], ["--family", "student_t"], ["--family", "gumbel"]),
    (SIMULATE, ["--df", "3"], ["--family", "student_t"], []),
    (COLLECT, ["--df", "3"], ["--family", "student_t"], []),
    (FISHER, ["--symmetric"], [], ["--interval", "0", "1"]),
    (FISHER, ["--resolution", "4"], MAP, []),
    (FISHER, ["--limits", "-1", "1"], MAP, []),
    (FISHER, ["--force"], MAP, []),
    (SIMULATE, ["--keep", "1"], TRACE, []),
    (SIMULATE, ["--force"], TRACE, []),
    (SIMULATE, ["--particles", "3"], ["--sampler", "gradient"], ["--sampler", "grid"]),
    (STUDY, ["--particles", "3"], ["--method", "grid/fixed", "adaptive"], ["--method", "grid/fixed", "mcmc"]),
    (STUDY, ["--iterations", "30"], ["--method", "mcmc"], ["--method", "grid/fixed"]),
    (STUDY, ["--mu", "0"], [], ["--prior-draws"]),
    (STUDY, ["--sigma", "1"], [], ["--prior-draws"]),
    (STUDY, ["--workers", "1"], [], ["--scheduler", "tcp://127.0.0.1:1"]),
    (COLLECT, ["--force"], ["--out", "answers.csv"], []),
]


@pytest.fixture
def heights(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("height\n" + "".join(f"{170 + k}.25\n" for k in range(9)))


def refused(capsys, arguments: list[str]) -> str:
    assert ended(arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("\n") == 1
    return output.err


def named(option: list[str]) -> str:
    return "does not take df" if option[0] == "--df" else option[0]


@pytest.mark.parametrize(("command", "option", "useful", "idle"), IDLE, ids=lambda part: " ".join(part[:3]))
def test_an_option_without_effect_is_refused(heights, capsys, command, option, useful, idle):
    assert named(option) in refused(capsys, [*command, *idle, *option])
    assert main([*command, *useful, *option]) == 0
    if "--scheduler" not in idle:  # nobody answers there
        assert main([*command, *idle]) in (0, 1)


@pytest.mark.parametrize("value", ["0", "1e-5", "2"])
def test_the_default_and_wrong_values_count_as_given(heights, capsys, value):
    for command in (FISHER, SIMULATE, STUDY, COLLECT, [*AUDIT, "--mechanism", "laplace"]):
        told = refused(capsys, [*command, "--delta", value])
        assert told == f"explorer {command[0]}: --delta is for the gaussian mechanism, and there is none\n"


def test_an_unknown_mechanism_is_told_first(heights, capsys):
    for command in (FISHER, SIMULATE, STUDY, COLLECT, AUDIT):
        assert "mechanism must be one of" in refused(capsys, [*command, "--mechanism", "magic", "--delta", "0.5"])


def test_reproduce_refuses_what_has_no_effect(heights, capsys, monkeypatch):
    def told(out, **given):
        raise ValueError(f"sampler {given['sampler']}, workers {given['workers']}")

    monkeypatch.setattr("explorer.studies.reproduction.reproduce", told)
    assert "--sampler has no effect" in refused(capsys, ["reproduce", "--as-coded", "--sampler", "marginal"])
    assert "--workers has no effect" in refused(capsys, ["reproduce", "--scheduler", "tcp://x:1", "--workers", "2"])
    assert "sampler marginal, workers None" in refused(capsys, ["reproduce", "--as-coded"])
    assert "sampler grid, workers 2" in refused(capsys, ["reproduce", "--sampler", "grid", "--workers", "2"])


def test_what_was_not_given_has_its_default(heights, capsys):
    assert main([*SIMULATE, "--sampler", "grid", "--json", *TRACE]) == 0
    settings = json.loads(capsys.readouterr().out)["settings"]
    assert (settings["delta"], settings["particles"]) == (1e-5, 1000)
    assert main([*FISHER, *MAP]) == 0
    assert capsys.readouterr().out == "Wrote 1225 intervals to map.csv\n"
