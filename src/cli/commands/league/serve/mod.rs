#[cfg(feature = "class-server")]
mod analysing;
#[cfg(feature = "class-server")]
mod checking;
#[cfg(feature = "class-server")]
mod final_games;
#[cfg(feature = "class-server")]
mod renewal;
#[cfg(feature = "class-server")]
mod showing;
#[cfg(feature = "class-server")]
mod start;
#[cfg(feature = "class-server")]
mod tables;
#[cfg(feature = "class-server")]
mod worker;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use super::DeadlineOptions;
use crate::cli::commands::tournament::{ChangesOption, PlayOptions};
use crate::cli::support::failure::Result;
#[cfg(not(feature = "class-server"))]
use crate::cli::support::failure::{Failure, usage};
use referee::server::origin;
use referee::tournament::plan::request::PlanRequest;

#[derive(Debug, clap::Args)]
#[cfg_attr(
    not(feature = "class-server"),
    allow(dead_code, reason = "the help is the same")
)]
pub(super) struct ServeArgs {
    /// The folder of the league; a new one is started where there is none
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Who takes part, in CSV: name, team, email, id; remembered. Each gets a link
    #[arg(long, value_name = "FILE", conflicts_with = "open")]
    students: Option<PathBuf>,

    /// Let everybody join who knows this code
    #[arg(long, value_name = "CODE")]
    open: Option<String>,

    /// Where to listen; 0.0.0.0:8000 for other machines
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8000")]
    listen: SocketAddr,

    /// The address at which a proxy on this machine serves the class, with TLS, such as `https://class.example.org`
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    trust_proxy: Option<String>,

    /// The IP address from which the proxy connects, if it is not on this machine or is outside of the server's container
    #[arg(long, value_name = "IP", requires = "trust_proxy")]
    proxy_from: Option<IpAddr>,

    #[command(flatten)]
    deadline: DeadlineOptions,

    #[command(flatten)]
    changes: ChangesOption,

    #[command(flatten)]
    request: PlanRequest,

    #[command(flatten)]
    play: PlayOptions,
}

#[derive(Debug, clap::Args)]
#[cfg_attr(
    not(feature = "class-server"),
    allow(dead_code, reason = "the help is the same")
)]
pub(super) struct LinkArgs {
    /// The folder of the league
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// The student: the name, or the id or e-mail address of the list
    #[arg(value_name = "STUDENT")]
    student: String,
}

#[cfg(feature = "class-server")]
pub(super) fn run(args: &ServeArgs) -> Result<()> {
    start::run(args)
}

#[cfg(feature = "class-server")]
pub(super) fn renew_link(args: &LinkArgs) -> Result<()> {
    renewal::run(args)
}

#[cfg(not(feature = "class-server"))]
pub(super) fn run(_: &ServeArgs) -> Result<()> {
    Err(without_server())
}

#[cfg(not(feature = "class-server"))]
pub(super) fn renew_link(_: &LinkArgs) -> Result<()> {
    Err(without_server())
}

#[cfg(not(feature = "class-server"))]
fn without_server() -> Failure {
    usage!(
        "this program was built without the server of a class; build one that has it: cargo build --release --features class-server"
    )
}
