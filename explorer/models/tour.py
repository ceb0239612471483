"""A guided tour: each step sets the controls, opens a tab, says one thing and suggests one thing to try.

>>> tour = Tour()
>>> tour.step = 2
>>> tour.now.tab, tour.experiment.mechanism
('mechanism', 'laplace')
"""

from typing import NamedTuple

import param

from explorer.models.experiment import Experiment


class Stop(NamedTuple):
    """One step of the tour; settings that it does not name stand at their defaults."""

    title: str
    tab: str
    says: str
    to_try: str
    settings: dict


STOPS = (
    Stop(
        "A thousand secrets, one average",
        "run",
        "1000 people, one after the other, each have a number that they want to keep to themselves. We want to know "
        "the average of all such numbers, μ, and how widely they are spread, σ. Each person shares only a blurred "
        "answer. The blue cloud is what we believe about μ (above) and σ (below) after t answers; the dashed line is "
        "the truth.",
        "Scroll down to the buttons below the clouds, press ⏮ and then ▶: watch the cloud close in on the dashed line.",
        {"epsilon": 5.0, "compare": False},
    ),
    Stop(
        "How one answer is blurred",
        "mechanism",
        "The person is asked for an interval [l, r]. First the value is clipped: whatever is below l becomes l, "
        "whatever is above r becomes r. Then random noise is added, the more the wider the interval is and the smaller "
        "ε. The upper curve shows which answers y come out; the orange bars say which share of the people was clipped "
        "to l and to r.",
        "Drag the two ends “(a, b) by hand”. A narrow interval: most people are clipped, but there is little noise. "
        "A wide one: hardly anybody is clipped, but the noise is large.",
        {"epsilon": 2.0, "manual": True, "interval": (-1.0, 1.0)},
    ),
    Stop(
        "What ε promises",
        "mechanism",
        "Suppose that somebody sees an answer y and asks: was the person’s value x or x'? The lower left figure shows "
        "the answers of both. The lower right one shows how far y changes the odds between them, on a logarithmic "
        "scale: never beyond the dashed lines at ±ε. So ε = 1 means that no answer makes anything more than "
        "e = 2.7 times as likely as it was.",
        "Drag x and x' apart as far as you can: the curve stays between the lines. Then drag ε at the side from 1 to "
        "5 and back.",
        {"epsilon": 1.0, "manual": True, "interval": (-1.0, 1.0)},
    ),
    Stop(
        "What one answer tells",
        "fisher",
        "So which interval should people be asked for? The map gives every interval [a, b] a colour: how much one "
        "answer to it tells about μ, on average. (Statisticians call it the Fisher information; 1 is what the value "
        "itself would tell.) The star marks the best interval. a and b are counted in σ from μ.",
        "Move the mouse over the map and read the score. Tap a dark place and then a bright one: a diamond marks your "
        "choice, and the live run would use it.",
        {"epsilon": 5.0},
    ),
    Stop(
        "Clipping harder can tell more",
        "fisher",
        "With ε = 1 the best interval is tiny: ±0.07 σ around μ. Nearly everybody is clipped, so that an answer says "
        "little more than “above” or “below”; but the noise, which is as wide as the interval, is tiny too.",
        "Drag ε slowly from 1 up to 10, and watch the star walk along the edge: the more privacy people want (the "
        "smaller ε), the narrower they should be asked. The two curves at the right show the same.",
        {"epsilon": 1.0},
    ),
    Stop(
        "Nobody knows μ: explore, then exploit",
        "run",
        "The best interval lies around μ, which is just what we do not know. So the method guesses: it draws a (μ, σ) "
        "at random from what it believes, and asks the next person for the interval that would be best for that. "
        "While it knows little, the guesses scatter (the orange band is wild); as it learns, they settle. This is "
        "Thompson sampling.",
        "Move the seed at the side: other people, other noise, the same story. Then change the policy to plug_in, "
        "which never explores.",
        {"epsilon": 2.0, "compare": False},
    ),
    Stop(
        "Is it worth the trouble?",
        "run",
        "On the right, the usual way: everybody is asked for the same wide interval, μ ± 10σ, to be on the safe side. "
        "The people and the privacy are the same. The figure “Error of μ” below shows both errors, and the dashed "
        "limit that no method with these questions can beat on average.",
        "Compare the clouds at ε = 1 with those at ε = 5.",
        {"epsilon": 1.0},
    ),
    Stop(
        "A better question",
        "run",
        "The mechanism is the way in which the noise is made. The paper’s is laplace. The piecewise mechanism gives "
        "the same ε, and its answers tell more, above all about the spread σ.",
        "Switch the mechanism at the side between laplace and piecewise, and watch the clouds of σ in the second row.",
        {"epsilon": 3.0, "mechanism": "piecewise", "compare": False},
    ),
    Stop(
        "Take nobody’s word for it",
        "mechanism",
        "The paper’s own program had a slip: its noise was too small by a factor of √2, so that its ε = 1 was really "
        "1.4. Nobody noticed. An audit does: it draws many answers for two values and counts how often they can be "
        "told apart.",
        "Scroll down, switch on “As the author coded it” and press Audit. Then switch it off and audit again.",
        {"epsilon": 1.0},
    ),
    Stop(
        "Plan a survey of your own",
        "plan",
        "How many people does it take? The lower the curve of a mechanism, the fewer. Without privacy it would be the "
        "grey dashed line: the distance is the price of privacy.",
        "Say how exactly you want to know μ (the wanted standard error), and drag ε. When you have a file with real "
        "numbers, go on to the tab “Your data”.",
        {"epsilon": 1.0},
    ),
)


class Tour(param.Parameterized):
    """Where the visitor is on the tour; 0 is nowhere."""

    experiment = param.ClassSelector(class_=Experiment, doc="Whose settings each step sets.")
    step = param.Integer(0, bounds=(0, len(STOPS)), doc="The step of the tour, from 1 on; 0: no tour.")

    def __init__(self, **params):
        params.setdefault("experiment", Experiment())
        super().__init__(**params)

    @property
    def now(self) -> Stop | None:
        return STOPS[self.step - 1] if self.step else None

    @param.depends("step", watch=True)
    def _set_controls(self) -> None:
        if self.now is not None:
            defaults = {name: self.experiment.param[name].default for name in self.experiment.param if name != "name"}
            self.experiment.param.update(**(defaults | self.now.settings))


#: The paper's symbols: what they mean, and where they are on the page.
GLOSSARY = (
    ("X_t", "the sensitive value of person t", "never shown: only the person knows it"),
    ("μ, σ", "location and scale of the population; θ = (μ, σ)", "True μ, True σ: only a simulation knows them"),
    ("P_θ", "the family of the population", "Population"),
    ("ε", "the privacy level: one answer changes any odds by at most e^ε", "Privacy ε"),
    ("δ", "for the gaussian mechanism: the chance that ε is exceeded", "δ"),
    ("[l_t, r_t]", "the interval that person t is asked for", "the orange band of the live run"),
    ("s_t", "the clip: min(max(x, l), r)", "orange bars of the Mechanism tab"),
    ("V_t", "the noise", "Mechanism"),
    ("Y_t", "what person t shares: the clipped value with noise", "the upper curve of the Mechanism tab"),
    ("a, b", "the interval in units of σ from μ: l = μ + aσ, r = μ + bσ", "(a, b), and the axes of the Fisher map"),
    ("F", "the Fisher information of one answer about (μ, σ), a 2×2 matrix", "the colours of the Fisher map"),
    ("sc(F)", "the score: the one number of F that is maximised", "Score"),
    ("(a*, b*)", "the best interval", "the star on the Fisher map"),
    ("θ⁽ⁱ⁾, w⁽ⁱ⁾", "the particles and their weights: what is believed about (μ, σ)", "the blue clouds"),
    ("N", "the number of particles", "Particles N"),
    ("n", "the number of people", "Individuals n"),
    ("ϑ_t", "the draw from the posterior that the next interval is placed for", "Policy: thompson"),
    ("G", "the update of what is believed", "Sampler"),
    ("H", "the choice of the next interval", "Policy"),
    ("M", "answers in the paper’s Monte Carlo estimate of F", "Answers M, at the foot of the Fisher map"),
)
