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

/// The same against few targets, where compiling a kernel takes longer than its empty rows.
const SHAPES_FOR_FEW: &[(u32, u32)] = &[(4, 32), (4, 64), (8, 48), (8, 64)];
/// Shapes of the tiles for long targets among few: a step takes a quarter of the time, so that they end with the others.
const WIDE_SHAPES: &[(u32, u32)] = &[(32, 8), (32, 16)];
/// Maximum number of rows of a lane of strips: with more, queries of many strips take 7 % longer on an H200.
const STRIP_ROWS: u32 = 48;

/// Tiles by capacity: those that hold a whole query, and those for strips.
#[derive(Clone, Debug, Default)]
struct TileSet {
    alone: Vec<TileVariant>,
    strips: Vec<TileVariant>,
}

impl TileSet {
    /// The tiles of these shapes, lanes and rows of a lane. They exchange values inside subgroups.
    fn of(scores: Scores, [alone, strips]: [&[(u32, u32)]; 2]) -> TileSet {
        let variants = |shapes: &[(u32, u32)], strips: bool| {
            let joint = TileNeighbors::Database { strips };
            let variant = |&shape: &(u32, u32)| TileVariant {
                exchange: Exchange::Subgroup,
                ..TileVariant::new(KernelResults::Score, scores.into(), shape, joint)
            };
            shapes.iter().map(variant).collect()
        };
        TileSet { alone: variants(alone, false), strips: variants(strips, true) }
    }

    fn all(&self) -> impl Iterator<Item = &TileVariant> {
        self.alone.iter().chain(&self.strips)
    }

    /// Whether a device with subgroups of this size runs all tiles, of which there are some.
    fn runs(&self, subgroup: Option<u32>) -> bool {
        !self.alone.is_empty() && !self.strips.is_empty() && self.all().all(|tile| tile.on(subgroup) == *tile)
    }

    /// The tile for a query of `rows` residues, and the number of tiles: as few and as low as possible.
    fn holding(&self, rows: u32) -> Option<(TileVariant, u32)> {
        if let Some(tile) = self.alone.iter().find(|tile| tile.capacity() >= rows) {
            return Some((*tile, 1));
        }
        let strips = rows.div_ceil(self.strips.last()?.capacity());
        let holds = |tile: &&TileVariant| u64::from(tile.capacity()) * u64::from(strips) >= u64::from(rows);
        self.strips.iter().find(holds).map(|tile| (*tile, strips))
    }
}

/// The targets of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetsKind {
    /// Of many targets.
    Many,
    /// Of few targets.
    Few,
    /// The long targets of few.
    FewLong,
}

impl TargetsKind {
    pub const ALL: [TargetsKind; 3] = [TargetsKind::Many, TargetsKind::Few, TargetsKind::FewLong];
}

/// The tiles for each kind of targets. All kinds have the same tiles if the second and the third set are empty.
fn sets(scores: Scores) -> [TileSet; 3] {
    let scores = if scores.is_profile() && !scores.is_shared() { Scores::SharedProfile } else { scores };
    let strips: Vec<(u32, u32)> =
        DATABASE_SHAPES.iter().copied().filter(|&(lanes, rows)| lanes == 8 && rows <= STRIP_ROWS).collect();
    match scores {
        Scores::SharedProfile | Scores::SharedPositions | Scores::SharedCodons => [
            TileSet::of(scores, [DATABASE_SHAPES, &strips]),
            TileSet::of(scores, [SHAPES_FOR_FEW, &SHAPES_FOR_FEW[2..3]]),
            TileSet::of(scores, [WIDE_SHAPES, &WIDE_SHAPES[1..]]),
        ],
        Scores::Packed => {
            let shapes = [(8, 8), (8, 16), (4, 38), (8, 25), (8, 32), (8, 38)];
            [TileSet::of(scores, [&shapes, &shapes[4..]]), TileSet::default(), TileSet::default()]
        }
        Scores::Compared | Scores::Profile | Scores::WideProfile => Default::default(),
    }
}

/// All tiles for a database.
pub(super) fn tiles(scores: Scores) -> Vec<TileVariant> {
    sets(scores).iter().flat_map(TileSet::all).copied().collect()
}

/// The tiles for queries of any length.
pub struct DatabaseTiles {
    many: TileSet,
    /// The tiles for few targets, and for the long targets among them, if there are any.
    few: Option<[TileSet; 2]>,
}

impl DatabaseTiles {
    /// `None` if the device or the scoring has no such tiles. None has gap costs of two pieces.
    pub fn new(scoring: impl Into<KernelScoring>, subgroup: Option<u32>) -> Option<DatabaseTiles> {
        let KernelScoring { scores, pieces } = scoring.into();
        let [many, few, long] = sets(scores);
        let is_complete = pieces == 1 && many.runs(subgroup);
        let few = Some([few, long]).filter(|sets| sets.iter().all(|set| set.runs(subgroup)));
        is_complete.then_some(DatabaseTiles { many, few })
    }

    /// Bytes of the edge values of a column between strips.
    pub fn edge_bytes(&self) -> u64 {
        let is_framed = self.many.all().any(|tile| tile.scores == Scores::SharedCodons);
        if is_framed { 32 } else { 8 }
    }

    /// Whether few targets have tiles of their own.
    pub fn has_few(&self) -> bool {
        self.few.is_some()
    }

    /// The tile for a query of `rows` residues, and the number of tiles: as few and as low as possible.
    pub fn holding(&self, rows: u32, targets: TargetsKind) -> Option<(TileVariant, u32)> {
        let set = match (&self.few, targets) {
            (None, _) | (_, TargetsKind::Many) => &self.many,
            (Some([few, _]), TargetsKind::Few) => few,
            (Some([_, long]), TargetsKind::FewLong) => long,
        };
        set.holding(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_take_few_low_tiles() {
        let all = DatabaseTiles::new(Scores::Profile, Some(32)).unwrap();
        let held =
            |rows, targets| all.holding(rows, targets).map(|(tile, strips)| (tile.lanes, tile.rows, strips));
        let many = |rows| held(rows, TargetsKind::Many);
        assert_eq!(many(1), Some((4, 24, 1)));
        assert_eq!((many(256), many(257), many(512)), (Some((4, 64, 1)), Some((8, 36, 1)), Some((8, 64, 1))));
        assert_eq!(
            (many(513), many(768), many(769), many(1153)),
            (Some((8, 36, 2)), Some((8, 48, 2)), Some((8, 36, 3)), Some((8, 40, 4)))
        );
        let [few, long] = [TargetsKind::Few, TargetsKind::FewLong].map(|kind| move |rows| held(rows, kind));
        assert_eq!((few(1), few(129), few(512)), (Some((4, 32, 1)), Some((4, 64, 1)), Some((8, 64, 1))));
        assert_eq!((few(513), long(256), long(513)), (Some((8, 48, 2)), Some((32, 8, 1)), Some((32, 16, 2))));
        let narrow = DatabaseTiles::new(Scores::SharedCodons, Some(8)).unwrap();
        assert!(all.has_few() && !narrow.has_few());
        assert_eq!(narrow.holding(9, TargetsKind::FewLong).map(|(tile, _)| tile.lanes), Some(4));
        assert!(DatabaseTiles::new(Scores::Profile, None).is_none());
        assert!(DatabaseTiles::new(Scores::Profile, Some(4)).is_none());
        assert!(DatabaseTiles::new(Scores::Compared, Some(32)).is_none());
    }
}
