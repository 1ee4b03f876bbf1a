//! Classes of bytes by their bits.

use super::pattern::Class;

/// Bits of a byte.
pub const BITS: usize = 8;

/// The bytes that have given values in some of their bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cube {
    /// The bits that matter.
    pub care: u8,
    /// Their values; 0 elsewhere.
    pub value: u8,
}

impl Cube {
    /// The cube of both, if they differ in the value of one bit.
    fn joined(self, other: Cube) -> Option<Cube> {
        let differ = self.value ^ other.value;
        let one = self.care == other.care && differ.is_power_of_two();
        one.then_some(Cube { care: self.care & !differ, value: self.value & !differ })
    }
}

/// Cubes that have together the bytes of the class: `a` and `A` make one, all bytes make a few.
pub fn cubes(class: Class) -> Vec<Cube> {
    let mut cubes: Vec<Cube> =
        (0..=u8::MAX).filter(|&byte| class.has(byte)).map(|value| Cube { care: u8::MAX, value }).collect();
    // Bit by bit, each cube finds its other half, or stays.
    for bit in 0..BITS {
        let mut joined: Vec<Cube> = Vec::new();
        for cube in &cubes {
            let other = Cube { value: cube.value ^ 1 << bit, ..*cube };
            match cubes.contains(&other).then(|| cube.joined(other)).flatten() {
                Some(whole) if joined.contains(&whole) => {}
                Some(whole) => joined.push(whole),
                None => joined.push(*cube),
            }
        }
        cubes = joined;
    }
    cubes
}
