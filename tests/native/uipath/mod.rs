//! UiPath's conversational agents.

mod line;
