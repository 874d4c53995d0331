//! How many connections each address has: nobody takes them all.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Connections of one address at once, of those of all.
const CONNECTIONS: usize = 32;
/// Those of them that may be streams of events: the rest can always fetch the page.
const STREAMS: usize = 24;

/// What one address has.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    connections: usize,
    streams: usize,
}

/// All addresses that are connected.
#[derive(Clone, Debug, Default)]
pub(super) struct Visitors(Arc<Mutex<HashMap<IpAddr, Held>>>);

/// A connection of an address, until it is dropped.
#[derive(Debug)]
pub(super) struct Visit {
    visitors: Visitors,
    address: IpAddr,
}

/// A stream of events of an address, until it is dropped.
#[derive(Debug)]
pub(super) struct StreamVisit {
    visitors: Visitors,
    address: IpAddr,
}

impl Visitors {
    /// Counts stay right when a thread has panicked.
    fn held(&self) -> MutexGuard<'_, HashMap<IpAddr, Held>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a connection in; `None` when its address has enough.
    pub(super) fn enter(&self, address: IpAddr) -> Option<Visit> {
        let address = whole_network(address);
        let mut held = self.held();
        let counts = held.entry(address).or_default();
        if counts.connections >= CONNECTIONS {
            return None;
        }
        counts.connections += 1;
        drop(held);
        let visitors = self.clone();
        Some(Visit { visitors, address })
    }
}

impl Visit {
    /// Lets a stream of events begin; `None` when the address has enough.
    pub(super) fn stream(&self) -> Option<StreamVisit> {
        let mut held = self.visitors.held();
        let counts = held.entry(self.address).or_default();
        if counts.streams >= STREAMS {
            return None;
        }
        counts.streams += 1;
        drop(held);
        Some(StreamVisit {
            visitors: self.visitors.clone(),
            address: self.address,
        })
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let mut held = self.visitors.held();
        if let Some(counts) = held.get_mut(&self.address) {
            counts.connections -= 1;
            if counts.connections + counts.streams == 0 {
                held.remove(&self.address);
            }
        }
    }
}

impl Drop for StreamVisit {
    fn drop(&mut self) {
        let mut held = self.visitors.held();
        if let Some(counts) = held.get_mut(&self.address) {
            counts.streams -= 1;
            if counts.connections + counts.streams == 0 {
                held.remove(&self.address);
            }
        }
    }
}

/// One address for all that one visitor has: with IPv6, a network of 64 bits.
fn whole_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let host = u128::from(u64::MAX);
            Ipv6Addr::from_bits(address.to_bits() & !host).into()
        }
    }
}
