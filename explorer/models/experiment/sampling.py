"""How the posterior of (μ, σ) is followed, and for how long."""

import param

from explorer.engine.inference.samplers import SAMPLERS


class SamplingSettings(param.Parameterized):
    """The sampler, its particles, the number of individuals, and the seed."""

    sampler = param.Selector(
        default="marginal",
        objects=list(SAMPLERS),
        label="Sampler",
        doc="How the posterior is computed: marginal (particles of θ alone, fast), resample_move (the paper's, with "
        "latent values, slow), grid (deterministic, slow), gradient (point estimate with a normal approximation).",
    )
    particles = param.Integer(
        1000,
        bounds=(10, 5000),
        softbounds=(50, 5000),
        step=50,
        label="Particles N",
        doc="N, the number of particles. The paper's is 1000. The grid sampler has none.",
    )
    n = param.Integer(
        1000,
        bounds=(10, 5000),
        softbounds=(50, 3000),
        step=50,
        label="Individuals n",
        doc="n, the number of individuals, who answer one after the other. The paper's is 1000.",
    )
    seed = param.Integer(
        1,
        bounds=(0, 10**9),
        softbounds=(0, 50),
        label="Seed",
        doc="Random seed: the same seed gives the same run, and close settings give close runs.",
    )
    compare = param.Boolean(
        True,
        label="Compare with fixed ±10σ",
        doc="Also run the paper's non-adaptive method, which asks everybody for [μ − 10σ, μ + 10σ].",
    )
