//! UiPath's conversational agents.

mod approval;
mod blind;
mod calls;
mod cases;
mod cuts;
mod deeds;
mod house;
mod joining;
mod line;
mod recorded;
mod recovery;
mod rig;
mod session;
mod shapes;
mod tools;
mod turns;
