//! The agent of our own, which does what UiPath's runtime does, from a script and without Python.

mod answers;
mod call;
mod fill;
mod play;
mod script;
mod scripts;
mod turn;
mod voice;

pub(super) use play::{FAILED, start};
pub(super) use script::{Script, Who};
pub(super) use scripts::{Choice, Scripts};
