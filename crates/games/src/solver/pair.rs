//! Two numbers of 64 bits that are combined, shifted and added side by side: one vector where every CPU of the
//! target has vectors of this size, two numbers elsewhere. With two numbers the solver takes a fifth longer.
//!
//! The few operations are written out: a crate of all vectors takes longer to build than the solver.
#![cfg_attr(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    expect(
        unsafe_code,
        reason = "the compiler asks for it where a function is for some CPUs only"
    )
)]
#![expect(
    clippy::inline_always,
    reason = "each is one instruction, also where little is optimised"
)]

use std::ops::{Add, BitAnd, BitOr, BitOrAssign, Not, Shl, Shr, Sub};

/// Functions that exist on every CPU of the target.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! of_every_cpu {
    ($(fn $name:ident($($argument:ident: $kind:ty),*) -> $result:ty { $body:expr })*) => {$(
        #[inline(always)]
        pub(super) fn $name($($argument: $kind),*) -> $result {
            // SAFETY: `cfg` says that the target's CPUs have these vectors.
            unsafe { $body }
        }
    )*};
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod vector {
    use std::arch::x86_64::{
        __m128i, _mm_add_epi64, _mm_and_si128, _mm_cvtsi32_si128, _mm_cvtsi128_si64, _mm_or_si128,
        _mm_set_epi64x, _mm_sll_epi64, _mm_srl_epi64, _mm_sub_epi64, _mm_unpackhi_epi64,
        _mm_xor_si128,
    };

    pub(super) type Vector = __m128i;

    of_every_cpu! {
        fn new(lanes: [u64; 2]) -> Vector {
            _mm_set_epi64x(lanes[1].cast_signed(), lanes[0].cast_signed())
        }
        fn to_array(v: Vector) -> [u64; 2] {
            [
                _mm_cvtsi128_si64(v).cast_unsigned(),
                _mm_cvtsi128_si64(_mm_unpackhi_epi64(v, v)).cast_unsigned(),
            ]
        }
        fn and(v: Vector, w: Vector) -> Vector { _mm_and_si128(v, w) }
        fn or(v: Vector, w: Vector) -> Vector { _mm_or_si128(v, w) }
        fn xor(v: Vector, w: Vector) -> Vector { _mm_xor_si128(v, w) }
        fn add(v: Vector, w: Vector) -> Vector { _mm_add_epi64(v, w) }
        fn sub(v: Vector, w: Vector) -> Vector { _mm_sub_epi64(v, w) }
        fn left(v: Vector, by: i32) -> Vector { _mm_sll_epi64(v, _mm_cvtsi32_si128(by)) }
        fn right(v: Vector, by: i32) -> Vector { _mm_srl_epi64(v, _mm_cvtsi32_si128(by)) }
    }
}

#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
mod vector {
    use std::arch::aarch64::{
        uint64x2_t, vaddq_u64, vandq_u64, vcombine_u64, vcreate_u64, vdupq_n_s64, veorq_u64,
        vgetq_lane_u64, vorrq_u64, vshlq_u64, vsubq_u64,
    };

    pub(super) type Vector = uint64x2_t;

    of_every_cpu! {
        fn new(lanes: [u64; 2]) -> Vector {
            vcombine_u64(vcreate_u64(lanes[0]), vcreate_u64(lanes[1]))
        }
        fn to_array(v: Vector) -> [u64; 2] {
            [vgetq_lane_u64::<0>(v), vgetq_lane_u64::<1>(v)]
        }
        fn and(v: Vector, w: Vector) -> Vector { vandq_u64(v, w) }
        fn or(v: Vector, w: Vector) -> Vector { vorrq_u64(v, w) }
        fn xor(v: Vector, w: Vector) -> Vector { veorq_u64(v, w) }
        fn add(v: Vector, w: Vector) -> Vector { vaddq_u64(v, w) }
        fn sub(v: Vector, w: Vector) -> Vector { vsubq_u64(v, w) }
        fn left(v: Vector, by: i32) -> Vector { vshlq_u64(v, vdupq_n_s64(i64::from(by))) }
        // A negative number shifts to the right.
        fn right(v: Vector, by: i32) -> Vector { vshlq_u64(v, vdupq_n_s64(-i64::from(by))) }
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod vector {
    use std::arch::wasm32::{u64x2, u64x2_extract_lane, u64x2_shl, u64x2_shr, v128};
    pub(super) use std::arch::wasm32::{
        u64x2_add as add, u64x2_sub as sub, v128_and as and, v128_or as or, v128_xor as xor,
    };

    pub(super) type Vector = v128;

    #[inline(always)]
    pub(super) fn new([low, high]: [u64; 2]) -> Vector {
        u64x2(low, high)
    }

    #[inline(always)]
    pub(super) fn to_array(v: Vector) -> [u64; 2] {
        [u64x2_extract_lane::<0>(v), u64x2_extract_lane::<1>(v)]
    }

    #[inline(always)]
    pub(super) fn left(v: Vector, by: i32) -> Vector {
        u64x2_shl(v, by.cast_unsigned())
    }

    #[inline(always)]
    pub(super) fn right(v: Vector, by: i32) -> Vector {
        u64x2_shr(v, by.cast_unsigned())
    }
}

#[cfg(not(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon"),
    all(target_arch = "wasm32", target_feature = "simd128")
)))]
mod vector {
    pub(super) type Vector = [u64; 2];

    #[inline(always)]
    pub(super) const fn new(lanes: [u64; 2]) -> Vector {
        lanes
    }

    #[inline(always)]
    pub(super) const fn to_array(v: Vector) -> [u64; 2] {
        v
    }

    #[inline(always)]
    pub(super) const fn left([a, b]: Vector, by: i32) -> Vector {
        [a << by, b << by]
    }

    #[inline(always)]
    pub(super) const fn right([a, b]: Vector, by: i32) -> Vector {
        [a >> by, b >> by]
    }

    #[inline(always)]
    pub(super) const fn and([a, b]: Vector, [c, d]: Vector) -> Vector {
        [a & c, b & d]
    }

    #[inline(always)]
    pub(super) const fn or([a, b]: Vector, [c, d]: Vector) -> Vector {
        [a | c, b | d]
    }

    #[inline(always)]
    pub(super) const fn xor([a, b]: Vector, [c, d]: Vector) -> Vector {
        [a ^ c, b ^ d]
    }

    #[inline(always)]
    pub(super) const fn add([a, b]: Vector, [c, d]: Vector) -> Vector {
        [a.wrapping_add(c), b.wrapping_add(d)]
    }

    #[inline(always)]
    pub(super) const fn sub([a, b]: Vector, [c, d]: Vector) -> Vector {
        [a.wrapping_sub(c), b.wrapping_sub(d)]
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Pair(vector::Vector);

impl Pair {
    #[inline(always)]
    pub(super) fn new(lanes: [u64; 2]) -> Self {
        Self(vector::new(lanes))
    }

    /// The same number twice.
    #[inline(always)]
    pub(super) fn splat(lane: u64) -> Self {
        Self::new([lane; 2])
    }

    #[inline(always)]
    pub(super) fn to_array(self) -> [u64; 2] {
        vector::to_array(self.0)
    }
}

impl BitAnd for Pair {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(vector::and(self.0, other.0))
    }
}

impl BitOr for Pair {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(vector::or(self.0, other.0))
    }
}

impl BitOrAssign for Pair {
    #[inline(always)]
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

/// Modulo 2^64.
impl Add for Pair {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(vector::add(self.0, other.0))
    }
}

/// Modulo 2^64.
impl Sub for Pair {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(vector::sub(self.0, other.0))
    }
}

impl Not for Pair {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        Self(vector::xor(self.0, Self::splat(!0).0))
    }
}

/// By less than 64.
impl Shl<i32> for Pair {
    type Output = Self;

    #[inline(always)]
    fn shl(self, by: i32) -> Self {
        Self(vector::left(self.0, by))
    }
}

/// By less than 64.
impl Shr<i32> for Pair {
    type Output = Self;

    #[inline(always)]
    fn shr(self, by: i32) -> Self {
        Self(vector::right(self.0, by))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Pair;

    proptest! {
        /// Each operation does in each lane what it does on a number.
        #[test]
        fn lanes_do_not_touch(a: [u64; 2], b: [u64; 2], by in 0..64) {
            let (v, w) = (Pair::new(a), Pair::new(b));
            let each = |f: fn(u64, u64) -> u64| [f(a[0], b[0]), f(a[1], b[1])];
            prop_assert_eq!(v.to_array(), a);
            prop_assert_eq!((v & w).to_array(), each(|a, b| a & b));
            prop_assert_eq!((v | w).to_array(), each(|a, b| a | b));
            prop_assert_eq!((v + w).to_array(), each(u64::wrapping_add));
            prop_assert_eq!((v - w).to_array(), each(u64::wrapping_sub));
            prop_assert_eq!((!v).to_array(), a.map(|lane| !lane));
            prop_assert_eq!((v << by).to_array(), a.map(|lane| lane << by));
            prop_assert_eq!((v >> by).to_array(), a.map(|lane| lane >> by));
            let [first, _] = a;
            prop_assert_eq!(Pair::splat(first).to_array(), [first; 2]);
        }
    }
}
