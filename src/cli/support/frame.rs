//! `--live-frame`: whose pages may show the served page in a frame.

use super::failure::Failure;
use super::live::LiveOption;
use crate::report::html::Origin;

/// `--live-frame`
#[derive(Clone, Debug, Default, clap::Args)]
pub(in crate::cli) struct FrameOption {
    /// Let pages of this origin (scheme, host and port) show the page of --live in a frame; all others are refused
    #[arg(long, value_name = "ORIGIN")]
    live_frame: Option<Origin>,
}

impl FrameOption {
    /// The option as words of a command line.
    pub(super) fn words(&self) -> Vec<String> {
        let origin = self.live_frame.iter();
        origin
            .flat_map(|origin| ["--live-frame".to_owned(), origin.to_string()])
            .collect()
    }

    /// The origin.
    pub(in crate::cli) fn origin(&self) -> Option<Origin> {
        self.live_frame.clone()
    }

    /// Refuses the option where no page is served.
    pub(in crate::cli) fn check(&self, live: &LiveOption) -> Result<(), Failure> {
        if self.live_frame.is_some() && !live.is_on() {
            return Err(Failure::Usage(
                "--live-frame is for the page of --live, which is not given; add --live, or leave it out"
                    .to_owned(),
            ));
        }
        Ok(())
    }
}
