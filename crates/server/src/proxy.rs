use std::net::IpAddr;

/// From where the proxy before a server connects. What it says of its clients counts; every client could say so, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proxy {
    OnThisMachine,
    At(IpAddr),
}

impl Proxy {
    /// Whether a connection from this address is the proxy's.
    pub fn is_at(self, peer: IpAddr) -> bool {
        let peer = peer.to_canonical();
        match self {
            Self::OnThisMachine => peer.is_loopback(),
            Self::At(address) => peer == address.to_canonical(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_proxy_is_taken_for_it() {
        let at = |proxy: Proxy, peer: &str| proxy.is_at(peer.parse().unwrap());
        let this = Proxy::OnThisMachine;
        for peer in ["127.0.0.1", "127.3.2.1", "::1", "::ffff:127.0.0.1"] {
            assert!(at(this, peer), "{peer}");
        }
        for peer in ["192.0.2.1", "10.88.0.1", "::", "::ffff:192.0.2.1"] {
            assert!(!at(this, peer), "{peer}");
        }
        let named = Proxy::At([10, 88, 0, 1].into());
        assert!(at(named, "10.88.0.1") && at(named, "::ffff:10.88.0.1"));
        assert!(!at(named, "10.88.0.2") && !at(named, "127.0.0.1"));
    }
}
