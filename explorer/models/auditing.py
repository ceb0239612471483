"""The audit of the mechanism that is shown: does it keep its ε?

>>> Auditing(epsilon=1, trials=2000).compute().violation
False
>>> Auditing(epsilon=1, as_coded=True, seed=1).compute().violation
True
"""

import param

from explorer.engine.mechanisms.interval import Interval
from explorer.engine.privacy.audit import as_coded, audit
from explorer.models.computation import Computation


class Auditing(Computation):
    """Carried out on demand, for one answer to [μ − σ, μ + σ]."""

    mode = "on demand"

    trials = param.Integer(
        20_000,
        bounds=(100, 500_000),
        softbounds=(1000, 200_000),
        step=1000,
        label="Answers for each value",
        doc="More answers find smaller violations: half of them look for the event that tells two values apart best, "
        "half measure it.",
    )
    as_coded = param.Boolean(
        False,
        label="As the author coded it",
        doc="Audit the laplace noise of the paper's published code, which takes a scale for a standard deviation: what "
        "it calls ε is √2 ε.",
    )

    def work(self):
        now = self.experiment
        interval = Interval(now.mu - now.sigma, now.mu + now.sigma)
        release = as_coded(now.epsilon) if self.as_coded else now.chosen_mechanism
        claim = {"epsilon": now.epsilon} if self.as_coded else {}
        settings = {"trials": self.trials, "seed": now.seed} | claim

        def results():
            yield audit(release, interval, **settings)

        return results()
