//! Connections by address: no address takes all.
//!
//! A class may share one, which may have many while there is room. Of the last 128 places each address may have 32.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// 500 streams, the pages that they fetch, and a reserve.
pub(super) const CONNECTIONS: usize = 640;
/// Reserved for addresses with few connections; a part if there are fewer places.
const KEPT: usize = 128;
/// Of one address, in the reserve.
const OF_ONE: usize = 32;
/// Of one address, at least, that are not streams: the page can always be fetched.
const PAGES: usize = 8;

/// By one address.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    connections: usize,
    streams: usize,
}

/// All connected addresses.
#[derive(Clone, Debug)]
pub(super) struct Visitors {
    /// Number of connections.
    places: usize,
    held: Arc<Mutex<AllHeld>>,
}

/// By address, and in total.
#[derive(Debug, Default)]
struct AllHeld {
    by_address: HashMap<IpAddr, Held>,
    connections: usize,
}

/// Until dropped.
#[derive(Debug)]
pub(super) struct Visit {
    visitors: Visitors,
    address: IpAddr,
}

/// A stream, until dropped.
#[derive(Debug)]
pub(super) struct StreamVisit {
    visitors: Visitors,
    address: IpAddr,
}

impl Visitors {
    /// Without connections.
    pub(super) fn of(places: usize) -> Self {
        Self {
            places,
            held: Arc::default(),
        }
    }

    /// Counts stay right after a panic.
    fn held(&self) -> MutexGuard<'_, AllHeld> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this many connections use the reserve.
    fn is_crowded(&self, connections: usize) -> bool {
        let free = self.places.saturating_sub(connections);
        free < KEPT.min(self.places / 2)
    }

    /// `None`: the address has enough.
    pub(super) fn enter(&self, address: IpAddr) -> Option<Visit> {
        let address = whole_network(address);
        let mut held = self.held();
        let is_crowded = self.is_crowded(held.connections + 1);
        let counts = held.by_address.entry(address).or_default();
        if is_crowded && counts.connections >= OF_ONE {
            return None;
        }
        counts.connections += 1;
        held.connections += 1;
        drop(held);
        let visitors = self.clone();
        Some(Visit { visitors, address })
    }
}

impl Visit {
    /// `None`: the address has enough streams.
    pub(super) fn stream(&self) -> Option<StreamVisit> {
        let mut held = self.visitors.held();
        let is_crowded = self.visitors.is_crowded(held.connections);
        let counts = held.by_address.entry(self.address).or_default();
        if is_crowded && counts.streams + PAGES >= counts.connections.max(OF_ONE) {
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
        held.connections -= 1;
        if let Some(counts) = held.by_address.get_mut(&self.address) {
            counts.connections -= 1;
            if counts.connections + counts.streams == 0 {
                held.by_address.remove(&self.address);
            }
        }
    }
}

impl Drop for StreamVisit {
    fn drop(&mut self) {
        let mut held = self.visitors.held();
        if let Some(counts) = held.by_address.get_mut(&self.address) {
            counts.streams -= 1;
            if counts.connections + counts.streams == 0 {
                held.by_address.remove(&self.address);
            }
        }
    }
}

/// A visitor's addresses as one: with IPv6, the /64 network.
fn whole_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let host = u128::from(u64::MAX);
            Ipv6Addr::from_bits(address.to_bits() & !host).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enter(visitors: &Visitors, address: &str, count: usize) -> Vec<Visit> {
        let address: IpAddr = address.parse().unwrap();
        (0..count).filter_map(|_| visitors.enter(address)).collect()
    }

    #[test]
    fn an_address_may_have_many_while_others_find_room() {
        let visitors = Visitors::of(CONNECTIONS);
        let class = enter(&visitors, "10.0.0.1", 2000);
        assert_eq!(class.len(), CONNECTIONS - KEPT);
        let streams: Vec<_> = class[..500].iter().map_while(Visit::stream).collect();
        assert_eq!(streams.len(), 500);
        // Four others have all their places.
        for other in ["10.0.0.2", "10.0.0.3", "10.0.0.4"] {
            let visits = enter(&visitors, other, 100);
            assert_eq!(visits.len(), OF_ONE, "{other}");
            let streams: Vec<_> = visits.iter().map_while(Visit::stream).collect();
            assert_eq!(streams.len(), OF_ONE - PAGES, "{other}");
        }
        drop(streams);
        drop(class);
        assert!(visitors.held().by_address.is_empty());
        assert_eq!(visitors.held().connections, 0);
    }

    #[test]
    fn where_there_is_little_room_half_of_it_is_shared() {
        let visitors = Visitors::of(64);
        let greedy = enter(&visitors, "10.0.0.1", 100);
        assert_eq!(greedy.len(), 32);
        assert_eq!(enter(&visitors, "10.0.0.2", 100).len(), 32);
    }
}
