//! Covers classes of bytes by cubes of their bits.

use super::pattern::ByteClass;

/// Bits per byte.
pub const BITS: usize = 8;

/// The set of bytes with given values in some of their bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cube {
    /// Mask of the bits that matter.
    pub care: u8,
    /// Values of these bits; 0 elsewhere.
    pub value: u8,
}

impl Cube {
    /// The union of both cubes, if they differ in the value of one bit.
    fn joined(self, other: Cube) -> Option<Cube> {
        let differ = self.value ^ other.value;
        let one = self.care == other.care && differ.is_power_of_two();
        one.then_some(Cube { care: self.care & !differ, value: self.value & !differ })
    }
}

/// Cubes whose union is the class: `a` and `A` form one cube, and all bytes need only a few.
pub fn cubes(class: ByteClass) -> Vec<Cube> {
    let mut cubes: Vec<Cube> =
        (0..=u8::MAX).filter(|&byte| class.has(byte)).map(|value| Cube { care: u8::MAX, value }).collect();
    // For each bit, cubes that differ only in it are joined.
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
