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
        "answer. The blue cloud (“particles”) is what we believe about μ (above) and σ (below) after t answers; the "
        "dashed line is the truth. Look at the left half for now; the right half comes in step 7.",
        "Scroll down to the buttons below the clouds, press “First frame” (|◀) and then “Play” (▶), and watch the "
        "belief close in on the dashed line.",
        {"epsilon": 5.0},
    ),
    Stop(
        "How one answer is blurred",
        "mechanism",
        "The person is given an interval, from l to r. First the value is clipped: whatever is below l becomes l, "
        "whatever is above r becomes r. Then random noise is added, the more the wider the interval. The upper curve "
        "shows which answers y come out; the orange bars are the shares of people that were clipped to l and to r. The "
        "slider (a, b) sets the interval in units of σ: −1 .. 1 reaches from one σ below μ to one σ above.",
        "Drag the two ends of (a, b) close together, and then far apart. Mind the numbers on the lower axis: with a "
        "narrow interval most people are clipped, but the answers spread over a few units only; with a wide one hardly "
        "anybody is clipped, but the answers spread over a hundred.",
        {"epsilon": 2.0, "manual": True, "interval": (-1.0, 1.0)},
    ),
    Stop(
        "What ε promises",
        "mechanism",
        "Somebody sees an answer y and wonders: was the person’s value x, or was it x'? The lower left figure (scroll "
        "a little) shows the answers of both. The lower right one shows how much y changes the odds between them; it "
        "is drawn on a logarithmic scale, and never leaves the dashed lines at ±ε. With ε = 1, odds of 1 : 1 can "
        "become 2.7 : 1 at most: somebody who thought 50 % can end up at 73 %, and no further.",
        "Drag x and x' towards each other: the curve shrinks, and nobody can tell the two apart. Drag them away from "
        "each other: it grows up to the dashed lines and no further, because both are clipped. Then drag ε.",
        {"epsilon": 1.0, "manual": True, "interval": (-1.0, 1.0)},
    ),
    Stop(
        "What one answer tells",
        "fisher",
        "So which interval should people be given? The map gives every interval [a, b] a colour: how much one answer "
        "to it tells about μ, on average. (Statisticians call it the Fisher information; 1 is what the value itself "
        "would tell.) The star marks the best interval. The white half is empty: there a would lie above b.",
        "Move the mouse over the map and read the score. Tap a dark place and then a bright one: a diamond marks your "
        "choice.",
        {"epsilon": 5.0},
    ),
    Stop(
        "Clipping harder can tell more",
        "fisher",
        "With ε = 1 the best interval is tiny: ±0.07 σ around μ. Nearly everybody is clipped, so that an answer says "
        "little more than “above” or “below”; but the noise, which grows with the interval, is tiny too. (Anything up "
        "to ±0.5 σ is nearly as good. What is bad is a wide interval.)",
        "Drag ε slowly from 1 up to 10, and watch the star move away from the diagonal edge, where an interval has no "
        "width: the more privacy people want (the smaller ε), the narrower an interval they should be given. The upper "
        "curve at the right shows the same.",
        {"epsilon": 1.0},
    ),
    Stop(
        "Nobody knows μ: explore, then exploit",
        "run",
        "The best interval lies around μ, which is just what we do not know. So the method guesses: it draws a (μ, σ) "
        "at random from what it believes, and gives the next person the interval that would be best for that. At the "
        "far left, where it knows little, the guesses (orange) are all over the place; as it learns, they settle "
        "around the truth. This is called Thompson sampling.",
        "Look at the first fifty answers in the upper left figure. Then move the seed at the side: other people, other "
        "noise, the same story.",
        {"epsilon": 5.0},
    ),
    Stop(
        "Is it worth the trouble?",
        "run",
        "In the right half, the usual way: everybody is given the same wide interval that surely holds all values. "
        "(Here even one that is centred on the true μ, which nobody would know.) The people and the privacy are the "
        "same, and yet the cloud of μ stays much wider, and σ is not found at all.",
        "Drag ε between 1 and 5 and compare the halves. Further down, “Error of μ” shows both errors. The dashed limit "
        "there is for the average over many surveys; a single one, like this, can be luckier.",
        {"epsilon": 2.0},
    ),
    Stop(
        "A better question",
        "run",
        "The mechanism is the way in which an answer is blurred. The paper that this app follows adds laplace noise. "
        "Piecewise, another one, answers with a number near the clipped value most of the time, and with any number "
        "else: same ε, but its answers tell more, above all about the spread σ.",
        "Switch the mechanism at the side between laplace and piecewise, and watch the cloud of σ, lower left.",
        {"epsilon": 3.0, "mechanism": "piecewise"},
    ),
    Stop(
        "Take nobody’s word for it",
        "mechanism",
        "The program that was published with the paper had a slip: its noise was too small by a factor of √2, so that "
        "what it called ε = 1 was really 1.41. An audit finds such things: it draws many answers for two values, and "
        "counts how well they can be told apart. It reports a number that the real ε is surely above.",
        "Scroll down to “Take nobody’s word”, switch on “As the author coded it” and press Audit: above 1.3, so the "
        "promise of 1 is refuted. Switch it off and audit again: about 0.9, which fits with 1. Read its last line.",
        {"epsilon": 1.0},
    ),
    Stop(
        "Plan a survey of your own",
        "plan",
        "How many people does it take? The lower the curve of a mechanism, the fewer. (randomized_response is a plain "
        "private yes or no: above or below the middle?) Each main step of the upright axis is ten times as "
        "many people. Without privacy the grey dashed line would be enough: the factor between them is the price of "
        "privacy.",
        "Say how well you want to know μ: with a standard error of 0.1, two surveys in three end within 0.1 of the "
        "truth. Then drag ε. With a file of real numbers, go on to the tab “Your data”.",
        {"epsilon": 1.0},
    ),
)


class Tour(param.Parameterized):
    """Where the visitor is on the tour, and which lessons there are."""

    experiment = param.ClassSelector(class_=Experiment, doc="Whose settings each step sets.")
    lessons = param.Dict({}, doc="Titles and addresses of the lessons that are served beside the page.")
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
