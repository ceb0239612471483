"""The Python calls that reproduce what is on the screen.

>>> print(call("ex.best_interval", {"epsilon": 2.0, "score": "mu"}))
ex.best_interval(
    epsilon=2.0,
    score='mu',
)
"""

from explorer.engine.families import StudentT


def call(function: str, arguments: dict) -> str:
    """A call with one argument a line."""
    lines = [f"    {name}={_text(value)}," for name, value in arguments.items()]
    return "\n".join([f"{function}(", *lines, ")"])


def _text(value) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, StudentT):
        return f"ex.family('student_t', df={value.shape!r})"
    return repr(value)


def family_argument(name: str, df: float):
    """A family by its name, if that says all."""
    return StudentT(df) if name == "student_t" else name


def run_script(runs) -> str:
    """The adaptive run, and the other beside it if there is one."""
    settings = {name: value for name, value in runs.settings.items() if value is not None}
    if settings["mechanism"] != "gaussian":
        del settings["delta"]
    lines = ["import explorer as ex", "", f"trace = {call('ex.simulate', settings)}"]
    if runs.fixed is not None:
        fixed = {name: value for name, value in settings.items() if name != "best"} | {"policy": "fixed"}
        lines += ["", f"fixed = {call('ex.simulate', fixed)}"]
    return "\n".join([*lines, "", "print(trace)"])


def fisher_script(experiment) -> str:
    """The map and the best interval."""
    shared = {"epsilon": experiment.epsilon, "mechanism": experiment.mechanism, "score": experiment.score}
    shared["family"] = experiment.chosen_family if experiment.family == "student_t" else experiment.family
    if experiment.mechanism == "gaussian":
        shared["delta"] = experiment.delta
    grid = {"resolution": experiment.resolution, "limits": (-experiment.limit, experiment.limit)}
    surface, best = call("ex.score_surface", shared | grid), call("ex.best_interval", shared)
    return f"import explorer as ex\n\nsurface = {surface}\n\nbest = {best}\n\nprint(best)"


def mechanism_script(experiment, picture) -> str:
    """One answer, its density given a value, and its likelihood."""
    arguments = {"epsilon": experiment.epsilon}
    if experiment.mechanism == "gaussian":
        arguments["delta"] = experiment.delta
    named = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    left, right = picture.interval
    likelihood = {"y": "y", "mu": experiment.mu, "sigma": experiment.sigma, "left": left, "right": right}
    likelihood |= arguments | {"mechanism": experiment.mechanism}
    likelihood["family"] = experiment.chosen_family if experiment.family == "student_t" else experiment.family
    text = call("ex.log_likelihood", likelihood).replace("y='y'", "y=y")
    return "\n".join(
        [
            "import numpy as np",
            "",
            "import explorer as ex",
            "",
            f"mech = ex.mechanism({experiment.mechanism!r}, {named})",
            f"interval = ex.Interval({left!r}, {right!r})",
            f"y = mech.release({picture.values[0]!r}, interval, np.random.default_rng(1))",
            f"loss = np.log(mech.density(y, {picture.values[0]!r}, interval)",
            f"              / mech.density(y, {picture.values[1]!r}, interval))",
            f"log_p = {text}",
            "print(y, loss, log_p)",
        ]
    )


def collection_script(found) -> str:
    """The same collection from a file of one's own; its noise and its order are others each time."""
    settings = {
        name: found.settings[name] for name in ("epsilon", "mechanism", "particles", "policy", "score", "sampler")
    }
    settings["family"] = family_argument(found.settings["family"], found.settings["df"])
    if found.settings["mechanism"] == "gaussian":
        settings["delta"] = found.settings["delta"]
    if found.settings["best"] is not None:
        settings["best"] = found.settings["best"]
    low, high = found.settings["expected"]
    estimator = call("ex.OnlineEstimator", settings).removesuffix(")")
    return "\n".join(
        [
            "import explorer as ex",
            "",
            f"column = ex.DataFile('your_file.csv').read({found.settings['column']!r})",
            f"estimator = {estimator}    prior=ex.SemiConjugatePrior.expecting({low!r}, {high!r}),",
            ")",
            f"for answered in ex.Collection(column.values, estimator, most={found.settings['most']!r}):",
            "    pass",
            "print(estimator.posterior.quantiles([0.025, 0.5, 0.975]))",
        ]
    )


def plan_script(model, plan) -> str:
    """The options of a plan."""
    epsilon, n = plan.given
    settings = {"standard_error": plan.standard_error, "sigma": plan.sigma}
    settings |= {"epsilon": epsilon} if n is None else {"n": n}
    settings |= {"family": family_argument(model.experiment.family, model.experiment.df), "delta": plan.delta}
    return f"import explorer as ex\n\nfor option in {call('ex.plan', settings)}:\n    print(option)"
