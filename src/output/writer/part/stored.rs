//! The bytes of values in a part's file.
//!
//! A number is its digits to the base of 128, the lowest first, each but the last with the bit 0x80 (LEB128). A signed
//! number is stored as a natural one: 0, -1, 1, -2 ... as 0, 1, 2, 3 ... A list follows its length, a struct is its
//! fields in order, and a variant of an enum follows its number.

use crate::terms::casts::{to_i64, to_u64};
use std::path::PathBuf;
use std::sync::Arc;

/// A value in a part's file.
pub trait Stored: Sized {
    fn put(&self, out: &mut Vec<u8>);

    /// Takes the value from the beginning of `bytes`. `None` if it is not there.
    fn take(bytes: &mut &[u8]) -> Option<Self>;

    /// Appends the values of a list, without its length.
    fn put_all(values: &[Self], out: &mut Vec<u8>) {
        values.iter().for_each(|value| value.put(out));
    }

    fn take_all(bytes: &mut &[u8], count: usize) -> Option<Vec<Self>> {
        // The count may be damaged, so memory is allocated as values arrive.
        (0..count).map(|_| Self::take(bytes)).collect()
    }
}

/// Appends a list.
pub fn put_list<T: Stored>(values: &[T], out: &mut Vec<u8>) {
    values.len().put(out);
    T::put_all(values, out);
}

/// Implements [`Stored`] for a struct by its fields. A field that is missing here is a compile error.
macro_rules! stored_struct {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::output::writer::part::stored::Stored for $name {
            fn put(&self, out: &mut Vec<u8>) {
                let $name { $($field),* } = self;
                $($crate::output::writer::part::stored::Stored::put($field, out);)*
            }

            fn take(bytes: &mut &[u8]) -> Option<$name> {
                Some($name { $($field: $crate::output::writer::part::stored::Stored::take(bytes)?),* })
            }
        }
    };
}

/// Implements [`Stored`] for an enum by the number and the fields of each variant. Tuple fields have numbers.
macro_rules! stored_enum {
    ($name:ident { $($number:literal $variant:ident $({ $($field:tt: $value:ident),* })?),* $(,)? }) => {
        impl $crate::output::writer::part::stored::Stored for $name {
            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $($name::$variant { $($($field: $value),*)? } => {
                        out.push($number);
                        $($($crate::output::writer::part::stored::Stored::put($value, out);)*)?
                    })*
                }
            }

            fn take(bytes: &mut &[u8]) -> Option<$name> {
                match <u8 as $crate::output::writer::part::stored::Stored>::take(bytes)? {
                    $($number => Some($name::$variant {
                        $($($field: $crate::output::writer::part::stored::Stored::take(bytes)?),*)?
                    }),)*
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use {stored_enum, stored_struct};

/// Implements [`Stored`] for a number by way of a larger one.
macro_rules! stored_number {
    ($($name:ident by $convert:ident $larger:ident),*) => {
        $(impl Stored for $name {
            fn put(&self, out: &mut Vec<u8>) {
                $convert(*self).put(out);
            }

            fn take(bytes: &mut &[u8]) -> Option<$name> {
                $larger::take(bytes)?.try_into().ok()
            }
        })*
    };
}

stored_number!(u32 by to_u64 u64, usize by to_u64 u64, i32 by to_i64 i64);

impl Stored for u64 {
    fn put(&self, out: &mut Vec<u8>) {
        let mut rest = *self;
        while rest > 0x7f {
            out.push(rest.to_le_bytes()[0] | 0x80);
            rest >>= 7;
        }
        out.push(rest.to_le_bytes()[0]);
    }

    fn take(bytes: &mut &[u8]) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = u8::take(bytes)?;
            let digit = u64::from(byte & 0x7f);
            if digit << shift >> shift != digit {
                return None;
            }
            number |= digit << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }
}

impl Stored for i64 {
    fn put(&self, out: &mut Vec<u8>) {
        (self << 1 ^ self >> 63).cast_unsigned().put(out);
    }

    fn take(bytes: &mut &[u8]) -> Option<i64> {
        let number = u64::take(bytes)?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }
}

impl Stored for u8 {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }

    fn take(bytes: &mut &[u8]) -> Option<u8> {
        bytes.split_off_first().copied()
    }

    fn put_all(values: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(values);
    }

    fn take_all(bytes: &mut &[u8], count: usize) -> Option<Vec<u8>> {
        bytes.split_off(..count).map(<[u8]>::to_vec)
    }
}

impl Stored for i8 {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(self.cast_unsigned());
    }

    fn take(bytes: &mut &[u8]) -> Option<i8> {
        u8::take(bytes).map(u8::cast_signed)
    }
}

impl Stored for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn take(bytes: &mut &[u8]) -> Option<bool> {
        match u8::take(bytes)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Stored for f64 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn take(bytes: &mut &[u8]) -> Option<f64> {
        <[u8; 8]>::take(bytes).map(f64::from_le_bytes)
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        put_list(self, out);
    }

    fn take(bytes: &mut &[u8]) -> Option<Vec<T>> {
        let count = usize::take(bytes)?;
        T::take_all(bytes, count)
    }
}

impl<T: Stored, const N: usize> Stored for [T; N] {
    fn put(&self, out: &mut Vec<u8>) {
        T::put_all(self, out);
    }

    fn take(bytes: &mut &[u8]) -> Option<[T; N]> {
        T::take_all(bytes, N)?.try_into().ok()
    }
}

impl<T: Stored> Stored for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        self.iter().for_each(|value| value.put(out));
    }

    fn take(bytes: &mut &[u8]) -> Option<Option<T>> {
        if bool::take(bytes)? { T::take(bytes).map(Some) } else { Some(None) }
    }
}

impl<A: Stored, B: Stored> Stored for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn take(bytes: &mut &[u8]) -> Option<(A, B)> {
        Some((A::take(bytes)?, B::take(bytes)?))
    }
}

impl Stored for String {
    fn put(&self, out: &mut Vec<u8>) {
        put_list(self.as_bytes(), out);
    }

    fn take(bytes: &mut &[u8]) -> Option<String> {
        String::from_utf8(Vec::take(bytes)?).ok()
    }
}

/// A path for error messages, in which invalid characters are replaced.
impl Stored for PathBuf {
    fn put(&self, out: &mut Vec<u8>) {
        put_list(self.to_string_lossy().as_bytes(), out);
    }

    fn take(bytes: &mut &[u8]) -> Option<PathBuf> {
        String::take(bytes).map(PathBuf::from)
    }
}

impl<T: Stored> Stored for Box<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (**self).put(out);
    }

    fn take(bytes: &mut &[u8]) -> Option<Box<T>> {
        T::take(bytes).map(Box::new)
    }
}

impl<T: Stored> Stored for Arc<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (**self).put(out);
    }

    fn take(bytes: &mut &[u8]) -> Option<Arc<T>> {
        T::take(bytes).map(Arc::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;

    fn check<T: Stored + PartialEq + Debug>(value: T, len: usize) {
        let mut bytes = Vec::new();
        value.put(&mut bytes);
        assert_eq!(bytes.len(), len, "{value:?}");
        assert_eq!(T::take(&mut &bytes[..]).as_ref(), Some(&value));
        for len in 0..bytes.len() {
            assert_eq!(T::take(&mut &bytes[..len]), None, "{value:?}, {len} bytes");
        }
    }

    #[test]
    fn values_are_restored() {
        for (number, len) in [(0, 1), (127, 1), (128, 2), (1 << 14, 3), (u64::MAX, 10)] {
            check(number, len);
        }
        for (number, len) in [(0, 1), (-64, 1), (64, 2), (i64::MIN, 10), (i64::MAX, 10)] {
            check(number, len);
        }
        check((u32::MAX, usize::MAX), 15);
        check([i32::MIN, i32::MAX], 10);
        check(vec![Some(-0.5), None, Some(f64::MIN_POSITIVE)], 20);
        check([i8::MIN, i8::MAX], 2);
        check(Some("\u{e9}".to_string()), 4);
        check(Arc::new(Box::new(vec![0u8, 255])), 3);
        check(PathBuf::from("reads.fq"), 9);
    }

    #[test]
    fn what_is_no_value_is_none() {
        assert_eq!(u64::take(&mut &[0x80; 12][..]), None);
        assert_eq!(u64::take(&mut &[255, 255, 255, 255, 255, 255, 255, 255, 255, 2][..]), None);
        assert_eq!(u32::take(&mut &[255, 255, 255, 255, 127][..]), None);
        assert_eq!(bool::take(&mut &[2][..]), None);
        assert_eq!(String::take(&mut &[1, 255][..]), None);
        // A length that no memory could hold.
        let most = [255, 255, 255, 255, 255, 255, 255, 255, 255, 1];
        assert_eq!(Vec::<u8>::take(&mut &most[..]), None);
        assert_eq!(Vec::<bool>::take(&mut &most[..]), None);
    }
}
