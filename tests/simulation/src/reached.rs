//! What schedules came to: a simulation that never meets a fault proves nothing about it.

use crate::plan::Kind;

macro_rules! situations {
    (both: $($both:ident),*; openhands: $($openhands:ident),*; uipath: $($uipath:ident),*;) => {
        /// Something that schedules are to meet.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Situation { $($both,)* $($openhands,)* $($uipath,)* }

        pub const ALL: &[Situation] =
            &[$(Situation::$both,)* $(Situation::$openhands,)* $(Situation::$uipath,)*];

        impl Situation {
            /// Whether it is to be met with these servers.
            fn is_of(self, kind: Kind) -> bool {
                match self {
                    $(Self::$both)|* => true,
                    $(Self::$openhands)|* => kind == Kind::OpenHands,
                    $(Self::$uipath)|* => kind == Kind::UiPath,
                }
            }
        }
    };
}

situations! {
    both:
        SeveralTabs, Rejected, DoubleClick, TwoTabsAnswer, AnswerRefused, SaidDuringRun,
        RequestLost, AnswerLost, Hidden500, SocketCut, Duplicate, HalfOpen, Offline, ConnectFailed,
        Reloaded, Died, LeftProperly, Hidden, ClockJumped, StorageLost, Opened, OpeningFailed, Away,
        Ran, Threw, NeverEnded, LateHandler, Unfit, MissingHandler, Elsewhere, Interrupted, Cancelled, TimedOut,
        Withdrawn, StaleFrame, Idle, DuplicateDropped, RejectedAndSaid, Redeclared, Undeclared, HandlerKept;
    openhands:
        Session, Legacy, Confirming, Accepted, Superseded, AnswerUnknown, Killed, Terminated, Rewound, Locked, AfterFinish,
        InterruptedBatch, Deleted, TooMany, CutInReplay, RanEarly, TooLarge, Unavailable, ResultsTold, Resumed, PlaceStays;
    uipath:
        Condition, StoppedByClient, Failed, EndedByService, CutOnTheWay, TokenRefused, Refused, Unheard, SessionEnding,
        SessionEnded, Kicked, Restarted, RestFails, Neighbour, AskedByPage, AnsweredAgain, Edited, InvalidEdit, Stopped,
        Unflagged, Orphaned, ToldTooLarge;
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

    pub fn missing(&self, kind: Kind) -> Vec<Situation> {
        let unmet = |situation: &Situation| situation.is_of(kind) && self.0[*situation as usize] == 0;
        ALL.iter().copied().filter(unmet).collect()
    }
}
