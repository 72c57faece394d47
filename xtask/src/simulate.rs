//! The simulation: schedules from seeds, and a core that is broken on purpose, which the simulation must notice.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};

use crate::{
    files,
    process::{Program, step},
    workspace::Workspace,
};

const PACKAGE: &str = "pagehand-simulation";
/// Schedules that a test run plays, half of them with each kind of server.
const SEEDS: u64 = 20_000;
/// Schedules with one kind of server within which a broken core must be noticed.
const ENOUGH: u64 = 30_000;
/// Longer than any of it takes: only what hangs is ended.
const DEADLINE: Duration = Duration::from_hours(1);
/// What a copy of the core needs to be built.
const COPIED: [&str; 4] = ["src", "crates", "tests/native", "tests/simulation"];

/// A kind of server.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Protocol {
    #[value(name = "openhands")]
    OpenHands,
    #[value(name = "uipath")]
    UiPath,
}

impl Protocol {
    const ALL: [Self; 2] = [Self::OpenHands, Self::UiPath];

    fn as_str(self) -> &'static str {
        match self {
            Self::OpenHands => "openhands",
            Self::UiPath => "uipath",
        }
    }
}

/// What is to be played.
#[derive(Args)]
pub(crate) struct Options {
    /// Only with this kind of server.
    #[arg(long)]
    protocol: Option<Protocol>,
    /// How many schedules, half of them with each kind of server.
    #[arg(long, default_value_t = SEEDS)]
    seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Plays this one only, with each kind of server unless one is named.
    #[arg(long)]
    seed: Option<u64>,
    /// Tells every step of the one.
    #[arg(long, requires = "seed")]
    trace: bool,
    /// Breaks the core on purpose, and demands that the simulation notices. With a text: in the ways that are named so.
    #[arg(long, num_args = 0..=1, default_missing_value = "")]
    mutants: Option<String>,
}

/// One way to break the core.
#[derive(Debug, PartialEq, Eq)]
struct Mutant {
    name: String,
    file: String,
    find: String,
    replace: String,
}

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<bool> {
    if let Some(named) = &options.mutants {
        let (noticed, missed) = mutants(workspace, named)?;
        println!("\n{noticed} noticed, {missed} not");
        return Ok(missed == 0);
    }
    let mut arguments = match options.seed {
        Some(seed) => vec!["--seed".to_owned(), seed.to_string()],
        None => vec!["--seeds".to_owned(), options.seeds.to_string(), "--from".to_owned(), options.from.to_string()],
    };
    if let Some(protocol) = options.protocol {
        arguments.extend(["--protocol", protocol.as_str()].map(str::to_owned));
    }
    if options.trace {
        arguments.push("--trace".to_owned());
    }
    let (_, success) = simulation(&workspace.root).args(["--profile", "simulation", "--"]).args(arguments).tee()?;
    Ok(success)
}

/// The schedules, counted as one test, and a test for each way to break the core.
pub(crate) fn count(workspace: &Workspace) -> Result<(u32, u32)> {
    let program = simulation(&workspace.root).args(["--profile", "simulation", "--", "--seeds"]).arg(SEEDS.to_string());
    let (_, success) = program.tee()?;
    let (caught, missed) = mutants(workspace, "")?;
    Ok((caught + u32::from(success), missed + u32::from(!success)))
}

fn simulation(directory: &Path) -> Program {
    Program::new("cargo").args(["run", "--quiet", "--package", PACKAGE]).directory(directory).deadline(DEADLINE)
}

/// Builds every broken core in a copy of the workspace. How many were noticed, and how many were not.
fn mutants(workspace: &Workspace, named: &str) -> Result<(u32, u32)> {
    let text = files::read(&workspace.root.join("tests/simulation/mutants.txt"))?;
    let mutants = read(&text)?;
    let copy = workspace.target.join("mutants/workspace");
    for folder in COPIED {
        copy_folder(&workspace.root.join(folder), &copy.join(folder))?;
    }
    let manifest = files::read(&workspace.root.join("Cargo.toml"))?;
    files::write(&copy.join("Cargo.toml"), smaller(&manifest)?.as_bytes())?;
    fs::copy(workspace.root.join("Cargo.lock"), copy.join("Cargo.lock"))?;
    let mut counts = (0, 0);
    for mutant in mutants.iter().filter(|mutant| mutant.name.contains(named)) {
        match step(&mutant.name, || notice(workspace, &copy, mutant)) {
            Ok(()) => counts.0 += 1,
            Err(error) => {
                println!("  {error:#}");
                counts.1 += 1;
            }
        }
    }
    Ok(counts)
}

impl Mutant {
    /// The kinds of servers with which it makes a difference.
    fn protocols(&self) -> Vec<Protocol> {
        let folder = |protocol: &Protocol| format!("src/protocol/{}/", protocol.as_str());
        let own: Vec<_> =
            Protocol::ALL.into_iter().filter(|protocol| self.file.starts_with(&folder(protocol))).collect();
        if own.is_empty() { Protocol::ALL.to_vec() } else { own }
    }
}

/// Breaks the core of the copy, plays, and mends it again.
fn notice(workspace: &Workspace, copy: &Path, mutant: &Mutant) -> Result<()> {
    let whole = files::read(&workspace.root.join(&mutant.file))?;
    let file = copy.join(&mutant.file);
    files::write(&file, apply(mutant, &whole)?.as_bytes())?;
    let target = workspace.target.join("mutants/target");
    let cargo = Program::new("cargo").args(["build", "--quiet", "--package", PACKAGE]).directory(copy);
    let cargo = cargo
        .env("CARGO_TARGET_DIR", &target)
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
        .env("RUSTFLAGS", "-Awarnings");
    let played = cargo.run_quietly().context("the broken core does not build").map(|()| {
        let protocols = mutant.protocols();
        let program = target.join("debug").join(PACKAGE);
        let seeds = ENOUGH * protocols.len() as u64;
        let program = Program::new(program).args(["--until-one-fails", "--seeds", &seeds.to_string()]);
        let program = match protocols.as_slice() {
            [one] => program.args(["--protocol", one.as_str()]),
            _ => program,
        };
        program.deadline(DEADLINE).capture()
    });
    files::write(&file, whole.as_bytes())?;
    // What ends well has noticed nothing; so does what breaks without a word of a violation.
    let Err(error) = played? else { anyhow::bail!("{ENOUGH} schedules, and nothing was noticed") };
    let told = format!("{error:#}");
    let is_violation = |line: &str| Protocol::ALL.iter().any(|protocol| line.starts_with(protocol.as_str()));
    let seed = told.lines().find(|line| is_violation(line));
    let panicked = told.lines().find(|line| line.contains("panicked at"));
    let noticed = seed.or(panicked).context("it ended badly, and told no violation")?;
    println!("  {noticed}");
    Ok(())
}

fn apply(mutant: &Mutant, whole: &str) -> Result<String> {
    let times = whole.matches(&mutant.find).count();
    ensure!(times == 1, "{} has what is to be replaced {times} times, not once", mutant.file);
    Ok(whole.replacen(&mutant.find, &mutant.replace, 1))
}

/// A block for each: `# name`, the file, lines to find after `-`, lines to stand in their place after `+`.
fn read(text: &str) -> Result<Vec<Mutant>> {
    let marked = |block: &str, mark: char| {
        let lines: Vec<_> = block.lines().filter_map(|line| line.strip_prefix(mark)).collect();
        lines.join("\n")
    };
    let blocks = text.split("\n# ").skip(1).map(|block| {
        let mut lines = block.lines();
        let name = lines.next().unwrap_or_default().to_owned();
        let file = lines.next().unwrap_or_default().to_owned();
        let (find, replace) = (marked(block, '-'), marked(block, '+'));
        ensure!(!find.is_empty() && find != replace, "{name:?} replaces nothing");
        Ok(Mutant { name, file, find, replace })
    });
    blocks.collect()
}

/// The manifest of a workspace that has only what was copied, and no library for browsers.
fn smaller(manifest: &str) -> Result<String> {
    let lines = manifest.lines().map(|line| match line.split_once(" = ") {
        Some(("members", members)) => {
            let members: Vec<String> =
                serde_json::from_str(members).context("Cargo.toml has members of another form")?;
            let copied = members.into_iter().filter(|member| is_copied(member)).collect::<Vec<_>>();
            ensure!(!copied.is_empty(), "Cargo.toml has no members");
            Ok(format!("members = {}", serde_json::to_string(&copied)?))
        }
        Some(("default-members", _)) => Ok(String::new()),
        Some(("crate-type", _)) => Ok(r#"crate-type = ["rlib"]"#.to_owned()),
        _ => Ok(line.to_owned()),
    });
    Ok(lines.collect::<Result<Vec<_>>>()?.join("\n"))
}

/// Whether a path below the root of the repository is in the copy.
fn is_copied(path: &str) -> bool {
    COPIED.iter().any(|folder| path == *folder || path.starts_with(&format!("{folder}/")))
}

/// Only what differs is written, so that cargo need not build the rest anew. What is gone is gone from the copy, too.
fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    for file in files::below(from)? {
        files::write(&to.join(&file), &fs::read(from.join(&file))?)?;
    }
    for file in files::below(to)? {
        if !from.join(&file).exists() {
            fs::remove_file(to.join(&file))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "About it.\n\n# a name\nsrc/a.rs\n-one\n-  two\n+three\n\n# other\nsrc/b.rs\n-x\n+y\n";

    #[test]
    fn a_mutant_is_a_name_a_file_and_what_is_replaced() {
        let mutants = read(TEXT).unwrap();
        assert_eq!(mutants.len(), 2);
        assert_eq!(mutants[0].find, "one\n  two");
        assert_eq!((mutants[1].name.as_str(), mutants[1].file.as_str()), ("other", "src/b.rs"));
        assert_eq!(apply(&mutants[0], "0\none\n  two\n4").unwrap(), "0\nthree\n4");
    }

    #[test]
    fn a_mutant_of_a_protocol_is_played_with_that_one() {
        let names = |file: &str| {
            let mutant = Mutant { name: String::new(), file: file.into(), find: String::new(), replace: String::new() };
            mutant.protocols().into_iter().map(Protocol::as_str).collect::<Vec<_>>()
        };
        assert_eq!(names("src/protocol/uipath/line.rs"), ["uipath"]);
        assert_eq!(names("src/protocol/openhands/stream.rs"), ["openhands"]);
        assert_eq!(names("src/call/calls.rs"), ["openhands", "uipath"]);
    }

    #[test]
    fn what_is_replaced_must_be_there_once() {
        let mutant = &read(TEXT).unwrap()[1];
        assert!(apply(mutant, "z").is_err() && apply(mutant, "x x").is_err());
    }

    #[test]
    fn a_mutant_that_changes_nothing_is_an_error() {
        assert!(read("\n# a\nf\n-x\n+x\n").is_err());
    }

    #[test]
    fn every_mutant_of_this_repository_applies() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mutants = read(&fs::read_to_string(root.join("tests/simulation/mutants.txt")).unwrap()).unwrap();
        assert!(mutants.len() >= 10);
        for mutant in &mutants {
            let whole = fs::read_to_string(root.join(&mutant.file)).unwrap();
            apply(mutant, &whole).unwrap_or_else(|error| panic!("{}: {error}", mutant.name));
        }
    }

    #[test]
    fn the_copy_has_only_what_was_copied() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
        let text = smaller(&fs::read_to_string(root).unwrap()).unwrap();
        assert!(!text.contains("xtask") && !text.contains("tests/fuzz") && !text.contains("cdylib"), "{text}");
        let paths = text.split("path = \"").skip(1).filter_map(|rest| rest.split('"').next());
        let missing: Vec<_> = paths.filter(|path| !is_copied(path)).collect();
        assert_eq!(missing, Vec::<&str>::new(), "the copy does not build without them");
    }
}
