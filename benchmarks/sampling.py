"""One run of the default sampler against the paper's resample-move in plain NumPy, against IBIS in the package
``particles`` on the same likelihood, and against itself with ten times as many answers."""

import math
import time

import numpy as np

import explorer as ex
from benchmarks.timing import line, seconds
from explorer.engine.inference.likelihood import total_log_likelihood
from explorer.engine.inference.samplers import Marginal

PARTICLES, ANSWERS, EPSILON = 1000, 1000, 5.0
MU, SIGMA = 50.0, math.sqrt(10)
PRIOR = ex.SemiConjugatePrior()


def run() -> None:
    _against_plain_resample_move()
    _against_particles()
    _ten_times_as_many_answers()


def _against_plain_resample_move() -> None:
    """Both choose their intervals by Thompson sampling, so both are whole runs of Figure 1."""
    ours = seconds(lambda: ex.simulate(MU, SIGMA, ANSWERS, EPSILON, particles=PARTICLES, seed=1), 5)
    short = 300
    start = time.perf_counter()
    plain = _plain_resample_move(short, np.random.default_rng(1))
    elapsed = time.perf_counter() - start
    # A step t costs in proportion to t: so the whole run costs (ANSWERS/short)^2 as much.
    whole = elapsed * (ANSWERS / short) ** 2
    ratio = whole / ours
    line(
        f"adaptive run, n=N=1000: {ours:.2f} s, against plain NumPy resample-move "
        f"({whole:.0f} s, extrapolated from {elapsed:.1f} s for n={short})",
        f"{ratio:.0f}x",
        ">= 300x",
        ratio >= 300,
    )
    same = ex.simulate(MU, SIGMA, short, EPSILON, particles=PARTICLES, seed=1)
    (ours, _), (sd, _) = same.mean[-1], same.sd[-1]
    print(f"  posterior mean of mu after {short} answers: {ours:.2f} ± {sd:.2f}, plain {plain:.2f}")


def _plain_resample_move(n: int, rng: np.random.Generator) -> float:
    """Figure 1 with Algorithms 2 and 3 as printed, each line one NumPy expression over all particles and values."""
    a, b, _ = ex.best_interval(EPSILON)
    mu = rng.normal(PRIOR.mean, math.sqrt(PRIOR.variance), PARTICLES)
    sigma = np.sqrt(PRIOR.scale / rng.gamma(PRIOR.shape, size=PARTICLES))
    x, weights = np.empty((PARTICLES, 0)), np.full(PARTICLES, 1 / PARTICLES)
    answers, lefts, rights = [], [], []
    for t in range(n):
        chosen = rng.choice(PARTICLES, p=weights)  # Thompson sampling
        left, right = mu[chosen] + sigma[chosen] * a, mu[chosen] + sigma[chosen] * b
        scale = (right - left) / EPSILON
        y_t = np.clip(rng.normal(MU, SIGMA), left, right) + rng.laplace(0, scale)

        ancestors = rng.choice(PARTICLES, PARTICLES, p=weights)
        mu, sigma, x = mu[ancestors], sigma[ancestors], x[ancestors]
        if t:
            data = np.array(answers), np.array(lefts), np.array(rights)
            level = _log_target(x, mu, sigma, *data)
            for width in (0.3, 3.0):  # a narrow and a wide random walk
                proposal = x + width * sigma[:, None] * rng.standard_normal(x.shape)
                new = _log_target(proposal, mu, sigma, *data)
                accept = np.log(rng.random(x.shape)) < new - level
                x, level = np.where(accept, proposal, x), np.where(accept, new, level)
            precision = 1 / PRIOR.variance + t / sigma**2
            mu = rng.normal((PRIOR.mean / PRIOR.variance + x.sum(axis=1) / sigma**2) / precision, precision**-0.5)
            rate = PRIOR.scale + 0.5 * ((x - mu[:, None]) ** 2).sum(axis=1)
            sigma = np.sqrt(rate / rng.gamma(PRIOR.shape + t / 2, size=PARTICLES))
        x = np.column_stack([x, rng.normal(mu, sigma)])
        answers.append(y_t), lefts.append(left), rights.append(right)
        weights = np.exp(-np.abs(y_t - np.clip(x[:, -1], left, right)) / scale)
        weights /= weights.sum()
    return float(weights @ mu)


def _log_target(x, mu, sigma, y, left, right) -> np.ndarray:
    z = (x - mu[:, None]) / sigma[:, None]
    return -0.5 * z * z - np.abs(y - np.clip(x, left, right)) * (EPSILON / (right - left))


def _fixed_data(n: int) -> tuple[np.ndarray, ex.Interval]:
    rng, interval = np.random.default_rng(2), ex.Interval(MU - 10 * SIGMA, MU + 10 * SIGMA)
    return ex.mechanism("laplace", EPSILON).release(rng.normal(MU, SIGMA, n), interval, rng), interval


def _marginal(y: np.ndarray, interval: ex.Interval, seed: int = 3) -> ex.Posterior:
    sampler = Marginal(ex.family("normal"), ex.mechanism("laplace", EPSILON), PRIOR, PARTICLES)
    rng = np.random.default_rng(seed)
    state = sampler.init(rng)
    for answer in y.tolist():
        state, _ = sampler.step(rng, state, answer, interval)
    return sampler.posterior(state)


def _against_particles() -> None:
    try:
        import particles
        from particles import distributions, smc_samplers
    except ImportError:
        print("IBIS in `particles`: not installed (pip install --no-deps particles==0.4), skipped")
        return
    y, interval = _fixed_data(ANSWERS)
    left, right = np.full(ANSWERS, interval.left), np.full(ANSWERS, interval.right)
    family, mechanism = ex.family("normal"), ex.mechanism("laplace", EPSILON)

    class Model(smc_samplers.StaticModel):
        """As its users write one: the likelihood of one answer."""

        def logpyt(self, theta, t):
            mu, sigma = np.ascontiguousarray(theta["mu"]), np.exp(theta["log_sigma"])
            return total_log_likelihood(self.data[t : t + 1], left[:1], right[:1], mu, sigma, family, mechanism)

    class BatchModel(Model):
        """The likelihood of all answers in one call of our kernel, instead of its own loop over them."""

        def loglik(self, theta, t=None):
            mu, sigma = np.ascontiguousarray(theta["mu"]), np.exp(theta["log_sigma"])
            stop = ANSWERS if t is None else t + 1
            return total_log_likelihood(self.data[:stop], left[:stop], right[:stop], mu, sigma, family, mechanism)

    class LogSigma(distributions.ProbDist):
        """The logarithm of sigma, when sigma^2 is inverse gamma."""

        dim, dtype = 1, float

        def rvs(self, size=None):
            return -0.5 * np.log(np.random.gamma(PRIOR.shape, 1 / PRIOR.scale, size))  # noqa: NPY002

        def logpdf(self, s):
            return math.log(2) - 2 * PRIOR.shape * s - PRIOR.scale * np.exp(-2 * s)

    def theirs(model=Model):
        prior = distributions.StructDist(
            {"mu": distributions.Normal(PRIOR.mean, math.sqrt(PRIOR.variance)), "log_sigma": LogSigma()}
        )
        ibis = smc_samplers.IBIS(model=model(data=y, prior=prior), wastefree=False)
        smc = particles.SMC(fk=ibis, N=PARTICLES, ESSrmin=0.5)
        smc.run()
        return smc

    np.random.seed(1)  # noqa: NPY002 - the package draws from the global generator
    their_time, our_time = seconds(theirs, 3), seconds(lambda: _marginal(y, interval), 5)
    line(
        f"fixed interval, n=N=1000: {our_time:.2f} s, against IBIS in particles ({their_time:.2f} s)",
        f"{their_time / our_time:.1f}x",
        ">= 10x",
        their_time >= 10 * our_time,
    )
    batch = seconds(lambda: theirs(BatchModel), 3)
    print(f"  and against the same with our kernel for all answers at once ({batch:.2f} s): {batch / our_time:.1f}x")
    smc, ours = theirs(), _marginal(y, interval)
    their_mean = np.average(smc.X.theta["mu"], weights=smc.W)
    print(f"  posterior mean of mu: {ours.mean[0]:.2f}, theirs {their_mean:.2f}")
    print(f"  log-evidence: {ours.log_evidence:.2f}, theirs {smc.logLt:.2f}")


def _ten_times_as_many_answers() -> None:
    def adaptive(n: int) -> float:
        return np.median([seconds(lambda s=s: ex.simulate(MU, SIGMA, n, EPSILON, seed=s), 1) for s in (1, 2, 3)])

    thousand, ten_thousand = adaptive(1_000), adaptive(10_000)
    line(
        f"adaptive run of n=10,000 ({ten_thousand:.2f} s) over n=1,000 ({thousand:.2f} s)",
        f"{ten_thousand / thousand:.1f}x",
        "<= 12x",
        ten_thousand <= 12 * thousand,
    )
