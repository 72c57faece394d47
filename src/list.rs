//! A map of a handful of entries, in the order they were added: a list is smaller than a tree, and no slower.

/// Values by key.
#[derive(Debug)]
pub struct List<K, V>(Vec<(K, V)>);

impl<K, V> Default for List<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: PartialEq, V> List<K, V> {
    /// Adds a value under a key that is new.
    pub fn add(&mut self, key: K, value: V) {
        self.0.push((key, value));
    }

    /// The value of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.0.iter().find(|(other, _)| other == key).map(|(_, value)| value)
    }

    /// The value of a key.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.0.iter_mut().find(|(other, _)| other == key).map(|(_, value)| value)
    }

    /// Takes the value of a key out.
    pub fn take(&mut self, key: &K) -> Option<V> {
        let place = self.0.iter().position(|(other, _)| other == key)?;
        Some(self.0.remove(place).1)
    }

    /// Keys and values.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// Keys and values.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        self.0.iter_mut().map(|(key, value)| (&*key, value))
    }
}
