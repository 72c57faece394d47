//! All conversations of a server.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use crate::restarts::Signal;

use super::conversation::Conversation;

/// All conversations, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Conversations {
    list: Mutex<Vec<Arc<Conversation>>>,
}

impl Conversations {
    fn list(&self) -> MutexGuard<'_, Vec<Arc<Conversation>>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn find(&self, id: Uuid) -> Option<Arc<Conversation>> {
        self.list().iter().find(|conversation| conversation.id() == id).cloned()
    }

    /// Adds the conversation unless its id is taken; then the one that has it comes back.
    pub(super) fn add(&self, conversation: &Arc<Conversation>) -> Option<Arc<Conversation>> {
        let mut list = self.list();
        let known = list.iter().find(|known| known.id() == conversation.id()).cloned();
        if known.is_none() {
            list.push(Arc::clone(conversation));
        }
        known
    }

    pub(super) fn remove(&self, id: Uuid) {
        self.list().retain(|conversation| conversation.id() != id);
    }

    pub(super) fn all(&self) -> Vec<Arc<Conversation>> {
        self.list().clone()
    }

    /// How many have a run under way.
    pub(super) fn running(&self) -> usize {
        self.all().iter().filter(|conversation| conversation.lock().run.is_some()).count()
    }

    /// What a restart leaves: everything but runs and sockets. Secrets outlive it if the server has a key to encrypt
    /// them with.
    pub(crate) fn restart(&self, signal: Signal, keeps_secrets: bool) {
        for conversation in self.all() {
            conversation.lock().restart(signal, keeps_secrets);
        }
    }
}
