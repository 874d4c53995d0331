//! The likelihood of a game, and its derivatives.

/// Derivatives of a log-likelihood by the difference of strength and by the draw parameter.
pub(super) type Slope = (f64, f64);

/// The likelihood of a game between two bots.
///
/// With x the difference of strength and d the draw parameter, the first mover wins with
/// probability σ(x − d) and loses with σ(−x − d). The probability of a draw is the rest,
/// σ(x − d)·σ(−x − d)·(e²ᵈ − 1): that of a win, that of a loss, and a factor. When draws are
/// half wins, d is 0 and a draw is half a win and half a loss.
pub(super) struct Odds {
    /// Strength of the first mover − strength of the second + advantage.
    pub(super) difference: f64,
    drawing: Option<f64>,
    /// e to the power of −|difference|: without a draw parameter, all else follows from it.
    tail: f64,
}

impl Odds {
    pub(super) fn new(difference: f64, drawing: Option<f64>) -> Self {
        Self {
            difference,
            drawing,
            tail: (-difference.abs()).exp(),
        }
    }

    /// The expected scores of the first and of the second mover, if draws have no parameter.
    pub(super) fn scores(&self) -> [f64; 2] {
        let large = 1.0 / (1.0 + self.tail);
        let small = self.tail * large;
        if self.difference < 0.0 {
            [small, large]
        } else {
            [large, small]
        }
    }

    /// Arguments of σ for a win and for a loss.
    fn arguments(&self) -> (f64, f64) {
        let drawing = self.drawing.unwrap_or(0.0);
        (self.difference - drawing, -self.difference - drawing)
    }

    /// The counts of wins and of losses, draws included.
    fn counts(&self, [wins, draws, losses]: [f64; 3]) -> (f64, f64) {
        let worth = if self.drawing.is_some() { 1.0 } else { 0.5 };
        (wins + worth * draws, losses + worth * draws)
    }

    pub(super) fn likelihood(&self, outcomes: [f64; 3]) -> f64 {
        let (won, lost) = self.arguments();
        let (wins, losses) = self.counts(outcomes);
        let draw = match self.drawing {
            Some(drawing) if drawing <= 0.0 => f64::NEG_INFINITY,
            Some(drawing) => 2.0 * drawing + (-(-2.0 * drawing).exp_m1()).ln(),
            None => 0.0,
        };
        // 0 times infinity would be NaN.
        let draws = if outcomes[1] > 0.0 {
            outcomes[1] * draw
        } else {
            0.0
        };
        let [won, lost] = if self.drawing.is_some() {
            [won, lost].map(ln_logistic)
        } else {
            let both = self.tail.ln_1p();
            [won, lost].map(|x| x.min(0.0) - both)
        };
        wins * won + losses * lost + draws
    }

    /// Slopes of a win, a draw and a loss.
    pub(super) fn slopes(&self) -> [Slope; 3] {
        let Some(drawing) = self.drawing else {
            let [down, up] = self.scores();
            return [(up, -up), ((up - down) / 2.0, 0.0), (-down, -down)];
        };
        let (won, lost) = self.arguments();
        let (up, down) = (logistic(-won), logistic(-lost));
        let draw = (up - down, -up - down - 2.0 / (-2.0 * drawing).exp_m1());
        [(up, -up), draw, (-down, -down)]
    }

    /// The negated curvature as a sum of squares of slopes with weights.
    pub(super) fn bends(&self, outcomes: [f64; 3]) -> [(Slope, f64); 3] {
        let (won, lost) = self.arguments();
        let (wins, losses) = self.counts(outcomes);
        let Some(drawing) = self.drawing else {
            // Those of wins and losses are the same.
            let [first, second] = self.scores();
            let weight = (wins + losses) * first * second;
            return [((1.0, 0.0), weight), ((0.0, 0.0), 0.0), ((0.0, 0.0), 0.0)];
        };
        let (bend_of_win, bend_of_loss) = (bend(won), bend(lost));
        let draw = 1.0 / drawing.sinh().powi(2);
        [
            ((1.0, -1.0), wins * bend_of_win),
            ((-1.0, -1.0), losses * bend_of_loss),
            ((0.0, 1.0), outcomes[1] * draw),
        ]
    }
}

pub(super) fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Slope of [`logistic`].
pub(super) fn bend(x: f64) -> f64 {
    logistic(x) * logistic(-x)
}

/// Logarithm of [`logistic`], without loss far from 0.
pub(super) fn ln_logistic(x: f64) -> f64 {
    x.min(0.0) - (-x.abs()).exp().ln_1p()
}
