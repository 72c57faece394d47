//! Timestamps as the real servers write them.

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};

/// A server's idea of local time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    offset: SignedDuration,
}

impl Clock {
    /// A clock whose local time is `minutes` ahead of UTC.
    pub(crate) fn ahead_of_utc(minutes: i32) -> Self {
        Self { offset: SignedDuration::from_mins(i64::from(minutes)) }
    }

    /// Local time without a zone, as on events: `2026-11-30T08:42:03.933600`, no fraction when it is 0.
    pub(crate) fn naive_now(self) -> String {
        let now = TimeZone::UTC.to_datetime(Timestamp::now().saturating_add(self.offset).unwrap_or_default());
        let fraction = if now.subsec_nanosecond() < 1000 { "" } else { "%.6f" };
        now.strftime(&format!("%Y-%m-%dT%H:%M:%S{fraction}")).to_string()
    }

    /// UTC with a `Z`, as on conversations.
    pub(crate) fn utc_now() -> String {
        TimeZone::UTC.to_datetime(Timestamp::now()).strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
    }

    /// UTC with milliseconds and a `Z`, as UiPath writes it.
    pub(crate) fn utc_millis() -> String {
        TimeZone::UTC.to_datetime(Timestamp::now()).strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
    }

    /// Reads a client's timestamp as naive local time; one with a zone is converted.
    pub(crate) fn read(self, text: &str) -> Option<DateTime> {
        if let Ok(instant) = text.parse::<Timestamp>() {
            let offset = Offset::from_seconds(i32::try_from(self.offset.as_secs()).ok()?).ok()?;
            return Some(offset.to_datetime(instant));
        }
        text.parse().ok()
    }
}
