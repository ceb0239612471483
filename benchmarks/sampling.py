"""One run of the default sampler against the paper's resample-move in plain NumPy, against IBIS in the package
``particles`` on the same likelihood, and against itself with ten times as many answers."""

import math
import time
from typing import NamedTuple

import numpy as np

import explorer as ex
from benchmarks.timing import line, seconds
from explorer.engine.inference.likelihood import total_log_likelihood
from explorer.engine.inference.samplers import Marginal

EPSILON = 5.0
MU, SIGMA = 50.0, math.sqrt(10)
PRIOR = ex.SemiConjugatePrior()


class Size(NamedTuple):
    """Particles and answers of one run, and how often it is timed."""

    particles: int
    answers: int
    repeats: int


def run(small: bool = False) -> None:
    size = Size(100, 100, 1) if small else Size(1000, 1000, 5)
    _against_plain_resample_move(size)
    _against_particles(size)
    _ten_times_as_many_answers(size)


def _against_plain_resample_move(size: Size) -> None:
    """Both choose their intervals by Thompson sampling, so both are whole runs of Figure 1."""
    particles, answers, repeats = size
    ours = seconds(lambda: ex.simulate(MU, SIGMA, answers, EPSILON, particles=particles, seed=1), repeats)
    short = answers * 3 // 10
    start = time.perf_counter()
    plain = _plain_resample_move(short, particles, np.random.default_rng(1))
    elapsed = time.perf_counter() - start
    # A step t costs in proportion to t: so the whole run costs (answers/short)^2 as much.
    whole = elapsed * (answers / short) ** 2
    ratio = whole / ours
    line(
        f"adaptive run, n={answers}, N={particles}: {ours:.2f} s, against plain NumPy resample-move "
        f"({whole:.0f} s, extrapolated from {elapsed:.1f} s for n={short})",
        f"{ratio:.0f}x",
        ">= 300x",
        ratio >= 300,
    )
    same = ex.simulate(MU, SIGMA, short, EPSILON, particles=particles, seed=1)
    (ours, _), (sd, _) = same.mean[-1], same.sd[-1]
    print(f"  posterior mean of mu after {short} answers: {ours:.2f} ± {sd:.2f}, plain {plain:.2f}")


def _plain_resample_move(n: int, particles: int, rng: np.random.Generator) -> float:
    """Figure 1 with Algorithms 2 and 3 as printed, each line one NumPy expression over all particles and values."""
    a, b, _ = ex.best_interval(EPSILON)
    mu = rng.normal(PRIOR.mean, math.sqrt(PRIOR.variance), particles)
    sigma = np.sqrt(PRIOR.scale / rng.gamma(PRIOR.shape, size=particles))
    x, weights = np.empty((particles, 0)), np.full(particles, 1 / particles)
    answers, lefts, rights = [], [], []
    for t in range(n):
        chosen = rng.choice(particles, p=weights)  # Thompson sampling
        left, right = mu[chosen] + sigma[chosen] * a, mu[chosen] + sigma[chosen] * b
        scale = (right - left) / EPSILON
        y_t = np.clip(rng.normal(MU, SIGMA), left, right) + rng.laplace(0, scale)

        ancestors = rng.choice(particles, particles, p=weights)
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
            sigma = np.sqrt(rate / rng.gamma(PRIOR.shape + t / 2, size=particles))
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


def _marginal(y: np.ndarray, interval: ex.Interval, particles: int, seed: int = 3) -> ex.Posterior:
    sampler = Marginal(ex.family("normal"), ex.mechanism("laplace", EPSILON), PRIOR, particles)
    rng = np.random.default_rng(seed)
    state = sampler.init(rng)
    for answer in y.tolist():
        state, _ = sampler.step(rng, state, answer, interval)
    return sampler.posterior(state)


def _against_particles(size: Size) -> None:
    try:
        import particles
        from particles import distributions, smc_samplers
    except ImportError:
        print("IBIS in `particles`: not installed (pip install --no-deps particles==0.4), skipped")
        return
    count, answers, repeats = size
    y, interval = _fixed_data(answers)
    left, right = np.full(answers, interval.left), np.full(answers, interval.right)
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
            stop = answers if t is None else t + 1
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
        smc = particles.SMC(fk=ibis, N=count, ESSrmin=0.5)
        smc.run()
        return smc

    np.random.seed(1)  # noqa: NPY002 - the package draws from the global generator
    their_time, our_time = seconds(theirs, min(repeats, 3)), seconds(lambda: _marginal(y, interval, count), repeats)
    line(
        f"fixed interval, n={answers}, N={count}: {our_time:.2f} s, against IBIS in particles ({their_time:.2f} s)",
        f"{their_time / our_time:.1f}x",
        ">= 10x",
        their_time >= 10 * our_time,
    )
    batch = seconds(lambda: theirs(BatchModel), min(repeats, 3))
    print(f"  and against the same with our kernel for all answers at once ({batch:.2f} s): {batch / our_time:.1f}x")
    smc, ours = theirs(), _marginal(y, interval, count)
    their_mean = np.average(smc.X.theta["mu"], weights=smc.W)
    print(f"  posterior mean of mu: {ours.mean[0]:.2f}, theirs {their_mean:.2f}")
    print(f"  log-evidence: {ours.log_evidence:.2f}, theirs {smc.logLt:.2f}")


def _ten_times_as_many_answers(size: Size) -> None:
    def adaptive(n: int) -> float:
        settings = {"particles": size.particles}
        return np.median(
            [seconds(lambda s=s: ex.simulate(MU, SIGMA, n, EPSILON, seed=s, **settings), 1) for s in (1, 2, 3)]
        )

    few, many = adaptive(size.answers), adaptive(10 * size.answers)
    line(
        f"adaptive run of n={10 * size.answers:,} ({many:.2f} s) over n={size.answers:,} ({few:.2f} s)",
        f"{many / few:.1f}x",
        "<= 12x",
        many <= 12 * few,
    )
