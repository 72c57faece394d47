//! The key that a server knows us by: none, one that stays, or one that the app is asked for.

/// How the server knows us. It has no `Debug`: keys are not written anywhere.
#[derive(Default)]
pub enum SessionKey {
    /// The server asks for no key.
    #[default]
    None,
    /// This key.
    Fixed(String),
    /// The app gives a key when it is asked: before the first request and before every connection.
    Asked,
}

/// The key as it is now.
pub(in crate::protocol) struct Keys {
    asked: bool,
    current: Option<String>,
    /// Whether the app has a question of ours.
    asking: bool,
}

impl Keys {
    pub(in crate::protocol) fn new(key: SessionKey) -> Self {
        let (asked, current) = match key {
            SessionKey::None => (false, None),
            SessionKey::Fixed(key) => (false, Some(key)),
            SessionKey::Asked => (true, None),
        };
        Self { asked, current, asking: false }
    }

    /// Whether the app gives the keys.
    pub(in crate::protocol) fn are_asked(&self) -> bool {
        self.asked
    }

    /// Whether there is no key yet and there must be one.
    pub(in crate::protocol) fn are_missing(&self) -> bool {
        self.asked && self.current.is_none()
    }

    /// The key; an empty one is none.
    pub(in crate::protocol) fn current(&self) -> Option<&str> {
        self.current.as_deref().filter(|key| !key.is_empty())
    }

    /// Asks. Whether the app has to be told: it has one question at a time.
    pub(in crate::protocol) fn ask(&mut self) -> bool {
        !std::mem::replace(&mut self.asking, true)
    }

    /// The app answered. Whether it was asked.
    pub(in crate::protocol) fn given(&mut self, key: Option<String>) -> bool {
        let asked = std::mem::take(&mut self.asking);
        if let Some(key) = key.filter(|_| asked) {
            self.current = Some(key);
        }
        asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_key_is_no_key() {
        assert_eq!(Keys::new(SessionKey::Fixed(String::new())).current(), None);
    }

    #[test]
    fn the_app_has_one_question_at_a_time_and_answers_none_that_was_not_put() {
        let mut keys = Keys::new(SessionKey::Asked);
        assert!(!keys.given(Some("early".into())));
        assert!(keys.are_missing());
        assert!(keys.ask());
        assert!(!keys.ask());
        assert!(keys.given(Some("a".into())));
        assert_eq!(keys.current(), Some("a"));
        assert!(keys.ask());
        assert!(keys.given(None));
        assert_eq!(keys.current(), Some("a"), "the last key may still be good");
    }
}
