//! A session as one JSON file: recorded here or there, replayed anywhere.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::kernel::{Ask, Kernel, Reply, Request};

/// Schema of the recordings that this version writes.
pub const RECORDING_SCHEMA: &str = "netdoctor.recording/1";

/// What was asked and what came back, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// Schema name.
    pub schema: String,
    /// Free text: what was recorded, where, what was changed in it.
    #[serde(default)]
    pub about: String,
    /// The exchanges.
    pub exchanges: Vec<Exchange>,
}

/// One question and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// The question.
    pub ask: Ask,
    /// The answer.
    pub reply: Reply,
    /// When the answer was there, in milliseconds of the recorded clock.
    pub at_ms: u64,
}

/// Passes requests on and keeps what comes back.
pub struct Recorder<K> {
    inner: K,
    recording: Recording,
}

impl<K: Kernel> Recorder<K> {
    /// Records what `inner` answers.
    pub fn new(inner: K) -> Self {
        Self { inner, recording: Recording { schema: RECORDING_SCHEMA.into(), ..Recording::default() } }
    }

    /// What was recorded.
    pub fn into_recording(self) -> Recording {
        self.recording
    }
}

impl<K: Kernel> Kernel for Recorder<K> {
    fn call(&mut self, requests: &[Request]) -> Vec<Reply> {
        let replies = self.inner.call(requests);
        let at_ms = self.inner.now_ms();
        for (request, reply) in requests.iter().zip(&replies) {
            self.recording.exchanges.push(Exchange { ask: request.ask.clone(), reply: reply.clone(), at_ms });
        }
        replies
    }

    fn now_ms(&mut self) -> u64 {
        self.inner.now_ms()
    }

    fn sleep(&mut self, ms: u64) {
        self.inner.sleep(ms);
    }
}

/// Replays a recording. A request gets its answers in their order, the last one for ever; one that was not recorded
/// gets ENOSYS. The clock is the recorded one.
pub struct Recorded {
    answers: BTreeMap<Ask, VecDeque<(Reply, u64)>>,
    now_ms: u64,
}

impl Recorded {
    /// Replays this recording.
    pub fn new(recording: Recording) -> Self {
        let mut answers: BTreeMap<Ask, VecDeque<(Reply, u64)>> = BTreeMap::new();
        for exchange in recording.exchanges {
            answers.entry(exchange.ask).or_default().push_back((exchange.reply, exchange.at_ms));
        }
        Self { answers, now_ms: 0 }
    }
}

impl Kernel for Recorded {
    fn call(&mut self, requests: &[Request]) -> Vec<Reply> {
        let mut replies = Vec::with_capacity(requests.len());
        for request in requests {
            let answer = self.answers.get_mut(&request.ask).and_then(|queue| match queue.len() {
                0 | 1 => queue.front().cloned(),
                _ => queue.pop_front(),
            });
            replies.push(match answer {
                Some((reply, at_ms)) => {
                    self.now_ms = self.now_ms.max(at_ms);
                    reply
                }
                None => Reply::Error { errno: libc::ENOSYS, text: "not recorded".into() },
            });
        }
        replies
    }

    fn now_ms(&mut self) -> u64 {
        self.now_ms
    }

    fn sleep(&mut self, ms: u64) {
        self.now_ms += ms;
    }
}
