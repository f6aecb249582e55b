//! Routes: which interface carries the default route.

use super::super::Intake;
use super::{asked, complaint, document};
use crate::formats::cursor::{At, Cursor};
use crate::formats::ip::json::Document;
use crate::formats::ip::route;

/// What the choice of the default route needs to know of a route, whichever tool printed it.
pub(in crate::capture::tools) struct Way {
    pub v6: bool,
    pub metric: u32,
    pub is_default: bool,
    pub devices: Vec<At<String>>,
}

pub(super) fn read(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let asked = intake.command.and_then(asked).unwrap_or_default();
    if let Some(namespace) = asked.namespace {
        namespace.clone_into(&mut intake.site.namespace);
    }
    if asked.changes {
        return complaint(cursor, intake);
    }
    let routes = match document(cursor) {
        Some(Document::Routes(routes)) => routes,
        _ => route::parse(cursor),
    };
    let complete = intake.command.is_some() && !asked.picks && asked.device.is_none() && !intake.is_filtered();
    let ways = routes.into_iter().map(|route| Way {
        v6: route.is_v6(),
        metric: route.metric(),
        is_default: route.is_default(),
        devices: route.devices,
    });
    put(intake, &ways.collect::<Vec<_>>(), complete);
    complaint(cursor, intake);
}

/// Marks the interfaces by which the default route leaves: IPv4 first, IPv6 where there is none. A list of all routes
/// also says of the other interfaces that it does not leave by them.
pub(in crate::capture::tools) fn put(intake: &mut Intake<'_>, ways: &[Way], complete: bool) {
    let best = ways.iter().filter(|way| way.is_default).map(|way| (way.v6, way.metric)).min();
    let Some(best) = best else { return };
    let known = intake.site.snapshot.interfaces.iter().any(|i| i.session.is_default_route.known() == Some(&true));
    if best.0 && known {
        return;
    }
    for way in ways {
        let chosen = way.is_default && (way.v6, way.metric) == best;
        for device in way.devices.iter().filter(|device| super::super::is_interface_name(&device.value)) {
            if chosen {
                intake.site.put(&device.value, |i| &mut i.session.is_default_route, At::new(true, device.line));
            }
        }
    }
    if !complete {
        return;
    }
    let chosen = |name: &str| {
        let mut best = ways.iter().filter(|way| way.is_default && (way.v6, way.metric) == best);
        best.any(|way| way.devices.iter().any(|device| device.value == name))
    };
    for device in ways.iter().flat_map(|way| &way.devices).filter(|device| !chosen(&device.value)) {
        if super::super::is_interface_name(&device.value) {
            intake.site.put(&device.value, |i| &mut i.session.is_default_route, At::new(false, device.line));
        }
    }
}
