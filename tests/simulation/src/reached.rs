//! What schedules came to: a simulation that never meets a fault proves nothing about it.

macro_rules! situations {
    ($($name:ident),* $(,)?) => {
        /// Something that schedules are to meet.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Situation { $($name),* }

        pub const ALL: &[Situation] = &[$(Situation::$name),*];
    };
}

situations! {
    Session, Legacy, Confirming, SeveralTabs,
    Accepted, Rejected, RejectedAndSaid, Superseded, DoubleClick, TwoTabsAnswer, AnswerUnknown, AnswerRefused,
    Killed, Terminated, Rewound, Locked, AfterFinish, InterruptedBatch, SaidDuringRun, Deleted,
    RequestLost, AnswerLost, Hidden500, TooMany, SocketCut, CutInReplay, Duplicate, HalfOpen, Offline, ConnectFailed,
    Reloaded, Died, LeftProperly, Hidden, ClockJumped, StorageLost, Opened, OpeningFailed, Away,
    Ran, RanEarly, TooLarge, Threw, NeverEnded, LateHandler, Unfit, MissingHandler, Elsewhere, Interrupted, Cancelled, TimedOut, Withdrawn,
    StaleFrame, Unavailable, ResultsTold, Resumed, PlaceStays, Idle, DuplicateDropped,
}

/// How often each was met.
#[derive(Clone)]
pub struct Reached(pub [u64; ALL.len()]);

impl Default for Reached {
    fn default() -> Self {
        Self([0; ALL.len()])
    }
}

impl Reached {
    pub fn note(&mut self, situation: Situation) {
        self.0[situation as usize] += 1;
    }

    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }

    pub fn missing(&self) -> Vec<Situation> {
        ALL.iter().copied().filter(|situation| self.0[*situation as usize] == 0).collect()
    }
}
