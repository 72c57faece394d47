//! A map in a sorted list. It is searched by halves, which needs a fraction of the code that hashing does; what is added
//! moves what comes after it, for the thousands that are kept here in a few microseconds.

use std::borrow::Borrow;

/// Values by key, in the order of the keys.
#[derive(Debug)]
pub struct Sorted<K, V>(Vec<(K, V)>);

impl<K, V> Default for Sorted<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Ord, V> Sorted<K, V> {
    /// Adds a value. Whether its key is new: otherwise the old value stays.
    pub fn add(&mut self, key: K, value: V) -> bool {
        let place = self.place(&key);
        if let Err(place) = place {
            self.0.insert(place, (key, value));
        }
        place.is_err()
    }

    /// The value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.0.get(self.place(key).ok()?).map(|(_, value)| value)
    }

    /// The value of a key.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        self.0.get_mut(place).map(|(_, value)| value)
    }

    /// Takes the value of a key out.
    pub fn take<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        Some(self.0.remove(place).1)
    }

    /// Keys and values.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// Where a key is, or would be.
    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.0.binary_search_by(|(other, _)| other.borrow().cmp(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_of_a_key_stays_until_it_is_taken() {
        let mut sorted = Sorted::default();
        assert!(sorted.add("b", 2) && sorted.add("c", 3) && sorted.add("a", 1));
        assert!(!sorted.add("b", 7));
        assert_eq!(sorted.iter().collect::<Vec<_>>(), [(&"a", &1), (&"b", &2), (&"c", &3)]);
        assert_eq!((sorted.take("b"), sorted.take("b")), (Some(2), None));
        assert!(sorted.add("b", 7));
        *sorted.get_mut("b").unwrap() += 1;
        assert_eq!((sorted.get("b"), sorted.get("d")), (Some(&8), None));
    }
}
