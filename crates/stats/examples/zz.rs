use referee_stats::ratings::*;
use referee_stats::standings::*;
use std::time::Instant;
fn main() {
    for bots in [30usize, 300, 1000] {
        let mut r = Results::new(bots);
        let mut s = 12345u64;
        for a in 0..bots {
            for b in 0..a {
                for _ in 0..3 {
                    let mut d = || {
                        s = s
                            .wrapping_mul(6364136223846793005)
                            .wrapping_add(1442695040888963407);
                        let u = (s >> 33) as f64 / (1u64 << 31) as f64;
                        let p = 1.0 / (1.0 + (-((a as f64 - b as f64) / bots as f64 * 3.0)).exp());
                        if u < p * 0.9 {
                            Outcome::FirstWins
                        } else if u < p * 0.9 + 0.1 {
                            Outcome::Draw
                        } else {
                            Outcome::SecondWins
                        }
                    };
                    let x = d();
                    let y = match d() {
                        Outcome::FirstWins => Outcome::SecondWins,
                        Outcome::SecondWins => Outcome::FirstWins,
                        o => o,
                    };
                    r.add_pair(a, b, [x, y]).unwrap();
                }
            }
        }
        let t = Instant::now();
        let f = rate(&r, &Model::default()).unwrap();
        println!(
            "{bots} {:?} {:?} {:?}",
            t.elapsed(),
            f.bots[bots / 2],
            f.advantage
        );
    }
    let _ = Collector::new();
}
