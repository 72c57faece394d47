//! One crate to one wasm file and its JavaScript.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::{
    build::{Profile, glue, names::Renamed},
    files,
    process::{Program, step},
    tools::{node::Packages, wasm_bindgen::WasmBindgen, wasm_target},
    workspace::Workspace,
};

/// A crate that becomes a wasm file.
pub(crate) struct Module {
    /// The name of the wasm file in `pkg/`.
    pub(crate) name: &'static str,
    /// The name of its script.
    pub(crate) script: &'static str,
    /// The cargo package.
    package: &'static str,
    /// The file that cargo makes.
    file: &'static str,
    /// What of the release's profile is another for it.
    profile: &'static [&'static str],
}

/// Compiled for speed it makes a core 4.7 kB smaller, and the engine 3.9 kB larger.
const CORE_PROFILE: &[&str] = &["profile.release.package.serde_json.opt-level=3"];

/// The wasm files, each built by a cargo call of its own: together, the features of their dependencies would be united,
/// and each core would carry the other's protocol, and what only the engine needs.
pub(crate) const MODULES: [Module; 3] = [
    Module {
        name: "openhands",
        script: "openhands-glue",
        package: "pagehand-openhands",
        file: "pagehand_openhands.wasm",
        profile: CORE_PROFILE,
    },
    Module {
        name: "uipath",
        script: "uipath-glue",
        package: "pagehand-uipath",
        file: "pagehand_uipath.wasm",
        profile: CORE_PROFILE,
    },
    SCHEMA,
];

/// The schema engine.
pub(crate) const SCHEMA: Module =
    Module { name: "schema", script: "schema", package: "pagehand-schema", file: "pagehand_schema.wasm", profile: &[] };

/// What came out.
pub(crate) struct Built {
    /// What it was made of.
    pub(crate) module: &'static Module,
    /// The final wasm.
    pub(crate) wasm: PathBuf,
    /// The JavaScript around it.
    pub(crate) script: PathBuf,
}

/// What wasm-opt does: it makes the code small, in another shape than the compiler's, then the names at the border, and drops
/// what only tools read. The lowest kilobyte of the memory is the end of the stack: nothing has an address there. A function
/// with one caller stays one when it is larger than a few instructions: among its like it compresses better.
const OPTIMISATION: [&str; 11] = [
    "-Oz",
    "--low-memory-unused",
    "--one-caller-inline-max-function-size",
    "30",
    "--flatten",
    "--rereloop",
    "-Oz",
    "-Oz",
    "--minify-imports-and-exports-and-modules",
    "--strip-producers",
    "--strip-target-features",
];

/// What the compiler's optimiser is told, beside that the code is to be small: not to rewrite loops for addressing modes that
/// WebAssembly has not, not to repeat code on the way to a branch, to take in no function that is larger than its call, and to
/// copy what is larger than a number by the one instruction that does so. A core is 6.4 kB smaller by it, and no slower.
const CODE_GENERATION: [&str; 10] = [
    "-disable-lsr",
    "-enable-pre=0",
    "-enable-load-pre=0",
    "-rotation-max-header-size=0",
    "-disable-licm-promotion",
    "-jump-threading-threshold=4",
    "-inline-threshold=2",
    "-max-store-memcpy=1",
    "-max-store-memmove=1",
    "-max-store-memset=1",
];

/// Bytes for the stack. Data begins behind it: below the first megabyte an address is a byte shorter.
const STACK: u32 = 15 << 16;

fn flags() -> String {
    let mut flags = vec![without_home_paths(), format!("-Clink-arg=-zstack-size={STACK}")];
    flags.extend(CODE_GENERATION.iter().map(|argument| format!("-Cllvm-args={argument}")));
    flags.join(" ")
}

/// Panic messages name source files: what ships should not tell where the builder keeps the dependencies.
fn without_home_paths() -> String {
    let home = |name: &str, below: &str| std::env::var_os(name).map(|path| PathBuf::from(path).join(below));
    let cargo = home("CARGO_HOME", "").or_else(|| home("HOME", ".cargo"));
    cargo.map_or_else(String::new, |cargo| format!("--remap-path-prefix={}=", cargo.join("registry/src").display()))
}

/// What wasm-bindgen makes: it still has the names of the functions.
pub(crate) fn before_optimisation(workspace: &Workspace, profile: Profile, name: &str) -> PathBuf {
    folder(workspace, profile, name).join(format!("{name}_bg.wasm"))
}

fn folder(workspace: &Workspace, profile: Profile, name: &str) -> PathBuf {
    workspace.scratch().join(profile.name()).join(name)
}

/// cargo, wasm-bindgen, and for a release wasm-opt; each only if its input is newer than its output.
pub(crate) fn build(
    workspace: &Workspace,
    tools: &WasmBindgen,
    packages: Option<&Packages>,
    profile: Profile,
    module: &'static Module,
) -> Result<Built> {
    let Module { name, package, file, profile: overrides, .. } = module;
    step(&format!("builds {name}.wasm for the browser ({})", profile.name()), || {
        // `rustc --crate-type`: a library that is an rlib as well gets no link-time optimisation at all.
        Program::new("cargo")
            .args(["rustc", "--quiet", "--lib", "--crate-type", "cdylib"])
            .args(["--package", package, "--target", wasm_target::TRIPLE])
            .args(["--profile", profile.name()])
            .args(overrides.iter().flat_map(|value| ["--config", value]))
            .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", flags())
            .directory(&workspace.root)
            .run()
    })?;
    let input = workspace.target.join(wasm_target::TRIPLE).join(profile.name()).join(file);
    ensure!(input.is_file(), "cargo made no {}: is the library of {package} a cdylib?", input.display());

    let bound = before_optimisation(workspace, profile, name);
    let folder = folder(workspace, profile, name);
    let bound_script = folder.join(format!("{name}.js"));
    // Ourselves, too: we give the options.
    let sources = [input.clone(), tools.bindgen.clone(), std::env::current_exe()?];
    if !sources.iter().all(|source| files::is_up_to_date(&bound, source)) {
        step(&format!("binds {name}.wasm to JavaScript"), || {
            files::remove(&folder)?;
            Program::new(&tools.bindgen)
                // The public types are written by hand: src/wasm/types.d.ts.
                .args(["--no-typescript", "--target", "web", "--out-name", name, "--out-dir"])
                .arg(&folder)
                // Our facade says where the file is. The glue's own default would be a second URL for bundlers to follow.
                .arg("--omit-default-module-path")
                .arg(&input)
                .run()?;
            let mended = files::read(&bound_script).and_then(|script| glue::mended(&script));
            if mended.is_err() {
                // It must not look as if it were done.
                files::remove(&folder)?;
            }
            files::write(&bound_script, mended?.as_bytes())
        })?;
    }
    let (wasm, script) = match packages {
        None => (bound, bound_script),
        Some(packages) => {
            let optimized = folder.join(format!("{name}.wasm"));
            let script = folder.join(format!("{name}.min.js"));
            // The script is written last.
            if !files::is_up_to_date(&script, &bound) {
                let wasm_opt = packages.script("binaryen/bin/wasm-opt")?;
                step(&format!("optimises {name}.wasm"), || {
                    // Which features it may use, wasm-opt reads from the file: with more, engines refuse the result.
                    let output = Program::new("node")
                        .arg(wasm_opt)
                        .args(OPTIMISATION)
                        .arg(&bound)
                        .arg("-o")
                        .arg(&optimized)
                        .capture()?;
                    let shortened = Renamed::read(&output)?.apply(&files::read(&bound_script)?)?;
                    files::write(&script, shortened.as_bytes())
                })?;
            }
            (optimized, script)
        }
    };
    ensure!(wasm.is_file(), "there is no {}", wasm.display());
    let built = Built { module, wasm, script };
    let snippets = folder.join("snippets");
    ensure!(!snippets.exists(), "{package} embeds JavaScript snippets, which break bundlers: pass functions instead");
    files::read(&built.script).context("wasm-bindgen made no JavaScript").map(|_| built)
}
