//! Waiting inside the edge.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Wake, Waker};

use wasm_bindgen_test::wasm_bindgen_test;

use crate::wasm::moment::{Moment, until};

/// A task that counts how often it is woken.
#[derive(Default)]
struct Task(AtomicU32);

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn poll<T>(task: &Arc<Task>, work: impl Future<Output = T>) -> bool {
    pin!(work).poll(&mut Context::from_waker(&Waker::from(Arc::clone(task)))).is_ready()
}

#[wasm_bindgen_test]
fn a_moment_keeps_nothing_of_who_no_longer_waits() {
    let moment = Moment::new();
    let task = Arc::new(Task::default());
    for _ in 0..100 {
        assert!(!poll(&task, moment.clone().into_future()));
        // The work ends first.
        assert!(poll(&task, until(moment.clone(), async {})));
    }
    assert_eq!(Arc::strong_count(&task), 1);
    moment.come();
    assert_eq!(task.0.load(Ordering::Relaxed), 0);
}

#[wasm_bindgen_test]
fn a_moment_wakes_each_who_waits_once() {
    let moment = Moment::new();
    let tasks = [Arc::new(Task::default()), Arc::new(Task::default())];
    let mut waits = tasks.each_ref().map(|_| Box::pin(moment.clone().into_future()));
    for _ in 0..3 {
        for (task, wait) in tasks.iter().zip(&mut waits) {
            assert!(!poll(task, wait.as_mut()));
        }
    }
    // One moves to another task.
    let other = Arc::new(Task::default());
    assert!(!poll(&other, waits[1].as_mut()));
    moment.come();
    moment.come();
    assert!(moment.has_come());
    assert_eq!(tasks.each_ref().map(|task| task.0.load(Ordering::Relaxed)), [1, 0]);
    assert_eq!(other.0.load(Ordering::Relaxed), 1);
    assert!(poll(&other, waits[0].as_mut()) && poll(&other, waits[1].as_mut()));
    drop(waits);
    assert_eq!(tasks.each_ref().map(Arc::strong_count), [1, 1]);
}
