//! From where a request comes.

use std::net::IpAddr;

use axum::http::HeaderMap;

use referee_server::Proxy;

/// The one who asks, not a proxy in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Client(pub(super) IpAddr);

impl Client {
    /// `peer`: whose connection it is. If it is the proxy's, the last address of `X-Forwarded-For` is its own word; a client may
    /// have sent what stands before, and all of it without a proxy.
    pub(super) fn of(peer: IpAddr, headers: &HeaderMap, proxy: Option<Proxy>) -> Self {
        if !proxy.is_some_and(|proxy| proxy.is_at(peer)) {
            return Self(peer);
        }
        let said = headers.get_all("x-forwarded-for").into_iter().next_back();
        let said = said.and_then(|said| said.to_str().ok());
        let last = said.and_then(|said| said.rsplit(',').next());
        let last = last.and_then(|last| last.trim().parse().ok());
        Self(last.unwrap_or(peer))
    }

    pub(super) fn network(self) -> Network {
        Network(match self.0.to_canonical() {
            IpAddr::V4(address) => address.to_bits().into(),
            IpAddr::V6(address) => address.to_bits() >> 80 << 80,
        })
    }
}

/// What one client may have: an address, or with IPv6 a /48, of which tunnels give one to each customer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Network(u128);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_through_a_proxy_has_the_address_that_it_says_last() {
        let this = Some(Proxy::OnThisMachine);
        let peer = IpAddr::from([127, 0, 0, 1]);
        let mut headers = HeaderMap::new();
        assert_eq!(Client::of(peer, &headers, this), Client(peer));
        let said = "203.0.113.9, 198.51.100.7".parse().expect("a header");
        headers.insert("x-forwarded-for", said);
        let told = Client([198, 51, 100, 7].into());
        assert_eq!(Client::of(peer, &headers, this), told);
        // All others could say so: without a proxy, or beside it.
        assert_eq!(Client::of(peer, &headers, None), Client(peer));
        let stranger = IpAddr::from([192, 0, 2, 1]);
        assert_eq!(Client::of(stranger, &headers, this), Client(stranger));
        let named = Some(Proxy::At(stranger));
        assert_eq!(Client::of(stranger, &headers, named), told);
        assert_eq!(Client::of(peer, &headers, named), Client(peer));
    }

    #[test]
    fn addresses_of_one_customer_are_one_network() {
        let of = |text: &str| Client(text.parse().unwrap()).network();
        assert_eq!(of("2001:db8:1:2::3"), of("2001:db8:1:ffff::4"));
        assert_ne!(of("2001:db8:1::1"), of("2001:db8:2::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
