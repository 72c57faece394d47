//! What wasm-bindgen's script gets wrong about an instance that was given up, put right.
//!
//! It goes on taking closures and objects for those of the current instance until the next call has made a new one, and that call
//! may be the closure itself: it is then called in the new instance, with an address in the old. And who calls a closure later,
//! such as a promise that settles after all, gets an exception that nobody can catch. Here what belongs to an instance ends with it.

use anyhow::{Result, ensure};

const GIVES_UP: &str = "__wbg_reinit_scheduled = true;";
const GIVES_UP_AT_ONCE: &str = "__wbg_reinit_scheduled = true;\n            __wbg_instance_id++;";
const THROWS: &str = "throw new Error('Cannot invoke closure from previous WASM instance');";
const RETURNS: &str = "return undefined;";

/// The script with that changed. One of a module that is never given up stays as it is.
pub(super) fn mended(script: &str) -> Result<String> {
    if !script.contains("__wbg_reinit_scheduled") {
        return Ok(script.to_owned());
    }
    let found = [GIVES_UP, THROWS].map(|text| script.matches(text).count());
    ensure!(
        found[0] == 1 && found[1] > 0,
        "wasm-bindgen's script is another: {found:?} of what is to be changed in it"
    );
    Ok(script.replace(GIVES_UP, GIVES_UP_AT_ONCE).replace(THROWS, RETURNS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_an_instance_ends_with_it() {
        let script = [GIVES_UP, THROWS, THROWS].join("\n");
        let expected = [GIVES_UP_AT_ONCE, RETURNS, RETURNS].join("\n");
        assert_eq!(mended(&script).unwrap(), expected);
    }

    #[test]
    fn a_script_that_is_not_as_expected_is_refused_unless_its_module_is_never_given_up() {
        assert!(mended(GIVES_UP).is_err());
        assert!(mended(&[GIVES_UP, GIVES_UP, THROWS].concat()).is_err());
        assert_eq!(mended(THROWS).unwrap(), THROWS);
    }
}
