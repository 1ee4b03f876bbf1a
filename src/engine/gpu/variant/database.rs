//! The tiles for databases. Queries use the lowest tile that holds them: all tasks share a query, so its empty rows are
//! lost in each task.

use super::{Exchange, KernelResults, KernelScoring, Scores, TileNeighbors, TileVariant};

/// Shapes of the tiles of a shared profile for a database; those of eight lanes also serve as strips.
const DATABASE_SHAPES: &[(u32, u32)] = &[
    (4, 24),
    (4, 32),
    (4, 40),
    (4, 48),
    (4, 56),
    (4, 64),
    (8, 36),
    (8, 40),
    (8, 44),
    (8, 48),
    (8, 52),
    (8, 56),
    (8, 60),
    (8, 64),
];

/// Lanes, and rows of a lane, by capacity: of the tiles that hold a whole query, and of those for strips.
fn shapes(scores: Scores) -> [&'static [(u32, u32)]; 2] {
    match scores {
        Scores::SharedProfile => [DATABASE_SHAPES, &DATABASE_SHAPES[6..]],
        Scores::Packed => [&[(8, 8), (8, 16), (4, 38), (8, 25), (8, 32), (8, 38)], &[(8, 32), (8, 38)]],
        Scores::Compared | Scores::Profile | Scores::WideProfile => [&[], &[]],
    }
}

/// The tiles for a database, by capacity: those that hold a whole query, and those for strips. They exchange values
/// inside subgroups.
pub(super) fn tiles(scores: Scores) -> [Vec<TileVariant>; 2] {
    let scores = if scores.is_profile() { Scores::SharedProfile } else { scores };
    let variants = |shapes: &[(u32, u32)], strips: bool| {
        let joint = TileNeighbors::Database { strips };
        let variant = |&shape: &(u32, u32)| TileVariant {
            exchange: Exchange::Subgroup,
            ..TileVariant::new(KernelResults::Score, scores.into(), shape, joint)
        };
        shapes.iter().map(variant).collect()
    };
    let [alone, strips] = shapes(scores);
    [variants(alone, false), variants(strips, true)]
}

/// The tiles for queries of any length.
pub struct DatabaseTiles {
    alone: Vec<TileVariant>,
    strips: Vec<TileVariant>,
}

impl DatabaseTiles {
    /// `None` if the device or the scoring has no such tiles. None has gap costs of two pieces.
    pub fn new(scoring: impl Into<KernelScoring>, subgroup: Option<u32>) -> Option<DatabaseTiles> {
        let KernelScoring { scores, pieces } = scoring.into();
        let [alone, strips] = tiles(scores);
        let runs = |tile: &TileVariant| tile.on(subgroup) == *tile;
        let complete = pieces == 1 && !alone.is_empty() && !strips.is_empty();
        (complete && alone.iter().chain(&strips).all(runs)).then_some(DatabaseTiles { alone, strips })
    }

    /// The tile for a query of `rows` residues, and the number of tiles: as few and as low as possible.
    pub fn holding(&self, rows: u32) -> Option<(TileVariant, u32)> {
        if let Some(tile) = self.alone.iter().find(|tile| tile.capacity() >= rows) {
            return Some((*tile, 1));
        }
        let strips = rows.div_ceil(self.strips.last()?.capacity());
        let holds = |tile: &&TileVariant| u64::from(tile.capacity()) * u64::from(strips) >= u64::from(rows);
        self.strips.iter().find(holds).map(|tile| (*tile, strips))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_take_few_low_tiles() {
        let all = DatabaseTiles::new(Scores::Profile, Some(32)).unwrap();
        let held = |rows| all.holding(rows).map(|(tile, strips)| (tile.lanes, tile.rows, strips));
        assert_eq!(held(1), Some((4, 24, 1)));
        assert_eq!((held(256), held(257), held(512)), (Some((4, 64, 1)), Some((8, 36, 1)), Some((8, 64, 1))));
        assert_eq!(
            (held(513), held(1024), held(1025)),
            (Some((8, 36, 2)), Some((8, 64, 2)), Some((8, 44, 3)))
        );
        assert!(DatabaseTiles::new(Scores::Profile, None).is_none());
        assert!(DatabaseTiles::new(Scores::Profile, Some(4)).is_none());
        assert!(DatabaseTiles::new(Scores::Compared, Some(32)).is_none());
    }
}
