//! A player with answers written in advance.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use referee::bot::fault::{Exit, Fault};
use referee::bot::{Allowance, Player, Reply};

/// Answers line by line, then behaves as an exited program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scripted {
    answers: VecDeque<String>,
    current: String,
    pub(crate) asked: Vec<String>,
}

impl Scripted {
    pub(crate) fn new<'a>(answers: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            answers: answers.into_iter().map(str::to_owned).collect(),
            ..Self::default()
        }
    }
}

impl Player for Scripted {
    async fn ask(&mut self, request: &str, _: Allowance) -> io::Result<Result<Reply<'_>, Fault>> {
        self.asked.push(request.trim_end_matches('\n').to_owned());
        Ok(match self.answers.pop_front() {
            Some(answer) => {
                self.current = answer;
                Ok(Reply {
                    line: self.current.as_bytes(),
                    elapsed: Duration::ZERO,
                    charged: Duration::ZERO,
                    fresh: false,
                })
            }
            None => Err(Fault::Exited {
                exit: Exit::Code(0),
                partial: Vec::new(),
                answered: 0,
            }),
        })
    }
}
