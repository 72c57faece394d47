//! Reads JSON and words its complaints as Python's `json` module does: they end up in bodies and frames.

use super::{Json, Object};

/// Nesting beyond this is refused; Python gives up at about a thousand.
const DEPTH_LIMIT: usize = 500;

/// Why a text is not JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// What was expected.
    pub message: String,
    /// Where, in characters from the start.
    pub at: usize,
    line: usize,
    column: usize,
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}: line {} column {} (char {})", self.message, self.line, self.column, self.at)
    }
}

impl std::error::Error for ParseError {}

/// Reads a document.
pub fn parse(text: &str) -> Result<Json, ParseError> {
    Reader::new(text, false).document()
}

/// Reads a document in which strings may hold raw control characters, as in an LLM's arguments.
pub fn parse_lenient(text: &str) -> Result<Json, ParseError> {
    Reader::new(text, true).document()
}

struct Reader {
    chars: Vec<char>,
    at: usize,
    control_characters: bool,
}

impl Reader {
    fn new(text: &str, control_characters: bool) -> Self {
        Self { chars: text.chars().collect(), at: 0, control_characters }
    }

    fn error<T>(&self, message: &str, at: usize) -> Result<T, ParseError> {
        let before = self.chars.get(..at).unwrap_or_default();
        let line = before.iter().filter(|&&c| c == '\n').count() + 1;
        let column = before.iter().rev().take_while(|&&c| c != '\n').count() + 1;
        Err(ParseError { message: message.to_owned(), at, line, column })
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t' | '\n' | '\r')) {
            self.at += 1;
        }
    }

    fn document(&mut self) -> Result<Json, ParseError> {
        self.skip_space();
        let value = self.value(0)?;
        self.skip_space();
        if self.at < self.chars.len() { self.error("Extra data", self.at) } else { Ok(value) }
    }

    fn value(&mut self, depth: usize) -> Result<Json, ParseError> {
        if depth > DEPTH_LIMIT {
            return self.error("maximum recursion depth exceeded", self.at);
        }
        match self.peek() {
            Some('{') => self.object(depth),
            Some('[') => self.array(depth),
            Some('"') => self.string().map(Json::Text),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Result<Json, ParseError> {
        let words = [
            ("null", Json::Null),
            ("true", Json::Bool(true)),
            ("false", Json::Bool(false)),
            ("NaN", Json::Number("NaN".to_owned())),
            ("Infinity", Json::Number("Infinity".to_owned())),
            ("-Infinity", Json::Number("-Infinity".to_owned())),
        ];
        for (word, value) in words {
            let end = self.at + word.len();
            if self.chars.get(self.at..end).is_some_and(|found| word.chars().eq(found.iter().copied())) {
                self.at = end;
                return Ok(value);
            }
        }
        self.number()
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Result<Json, ParseError> {
        let start = self.at;
        if self.peek() == Some('-') {
            self.at += 1;
        }
        if self.peek() == Some('0') {
            self.at += 1;
        } else if self.digits() == 0 {
            self.at = start;
            return self.error("Expecting value", start);
        }
        let whole = self.at;
        if self.peek() == Some('.') {
            self.at += 1;
            if self.digits() == 0 {
                self.at = whole;
            }
        }
        let fraction = self.at;
        if matches!(self.peek(), Some('e' | 'E')) {
            self.at += 1;
            if matches!(self.peek(), Some('+' | '-')) {
                self.at += 1;
            }
            if self.digits() == 0 {
                self.at = fraction;
            }
        }
        let text: String = self.chars.get(start..self.at).unwrap_or_default().iter().collect();
        let infinite = self.at > whole && text.parse::<f64>().is_ok_and(f64::is_infinite);
        Ok(Json::Number(if infinite && text.starts_with('-') {
            "-Infinity".to_owned()
        } else if infinite {
            "Infinity".to_owned()
        } else {
            text
        }))
    }

    fn string(&mut self) -> Result<String, ParseError> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let Some(c) = self.peek() else {
                return self.error("Unterminated string starting at", start);
            };
            self.at += 1;
            match c {
                '"' => return Ok(text),
                '\\' => text.push(self.escape(start)?),
                c if u32::from(c) < 0x20 && !self.control_characters => {
                    return self.error("Invalid control character at", self.at - 1);
                }
                c => text.push(c),
            }
        }
    }

    fn escape(&mut self, start: usize) -> Result<char, ParseError> {
        let Some(c) = self.peek() else {
            return self.error("Unterminated string starting at", start);
        };
        self.at += 1;
        Ok(match c {
            '"' | '\\' | '/' => c,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.unicode_escape(),
            _ => return self.error("Invalid \\escape", self.at - 2),
        })
    }

    fn hex4(&mut self) -> Result<u32, ParseError> {
        let hex: String = self.chars.get(self.at..self.at + 4).unwrap_or_default().iter().collect();
        match u32::from_str_radix(&hex, 16) {
            Ok(unit) if hex.len() == 4 && !hex.starts_with('+') => {
                self.at += 4;
                Ok(unit)
            }
            _ => self.error("Invalid \\uXXXX escape", self.at - 1),
        }
    }

    fn unicode_escape(&mut self) -> Result<char, ParseError> {
        let unit = self.hex4()?;
        if (0xD800..0xDC00).contains(&unit) && self.chars.get(self.at..self.at + 2) == Some(&['\\', 'u']) {
            let back = self.at;
            self.at += 2;
            let low = self.hex4()?;
            if (0xDC00..0xE000).contains(&low) {
                let code = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = back;
        }
        // A lone surrogate has no place in a Rust string.
        Ok(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn array(&mut self, depth: usize) -> Result<Json, ParseError> {
        self.at += 1;
        let mut items = Vec::new();
        self.skip_space();
        if self.peek() == Some(']') {
            self.at += 1;
            return Ok(Json::Array(items));
        }
        loop {
            self.skip_space();
            items.push(self.value(depth + 1)?);
            self.skip_space();
            match self.peek() {
                Some(']') => break,
                Some(',') => self.at += 1,
                _ => return self.error("Expecting ',' delimiter", self.at),
            }
        }
        self.at += 1;
        Ok(Json::Array(items))
    }

    fn object(&mut self, depth: usize) -> Result<Json, ParseError> {
        self.at += 1;
        let mut object = Object::new();
        self.skip_space();
        if self.peek() == Some('}') {
            self.at += 1;
            return Ok(Json::Object(object));
        }
        loop {
            self.skip_space();
            if self.peek() != Some('"') {
                return self.error("Expecting property name enclosed in double quotes", self.at);
            }
            let key = self.string()?;
            self.skip_space();
            if self.peek() != Some(':') {
                return self.error("Expecting ':' delimiter", self.at);
            }
            self.at += 1;
            self.skip_space();
            let value = self.value(depth + 1)?;
            object.set(&key, value);
            self.skip_space();
            match self.peek() {
                Some('}') => break,
                Some(',') => self.at += 1,
                _ => return self.error("Expecting ',' delimiter", self.at),
            }
        }
        self.at += 1;
        Ok(Json::Object(object))
    }
}
