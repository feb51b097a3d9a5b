//! Which bodies touch: groups, single pairs, and who asks.

use saltation::InputError;
use saltation::bodies::{Body, QueryMemory, Scene, Shape};
use saltation::mechanics::{ContactSet, ContactSource, Contacts, MechanicalSystem, Reach, Wanted};

use crate::fixtures::heap;
use crate::random::SplitMix64;

fn filled(scene: &Scene, set: ContactSet<'_>) -> Contacts {
    let (q, _) = scene.start();
    let mut contacts = Contacts::new();
    scene
        .fill(&q, set, Wanted::default(), &mut contacts)
        .unwrap();
    contacts
}

/// Bodies, feature and gap of each contact.
fn list(scene: &Scene, contacts: &Contacts) -> Vec<(usize, f64)> {
    let known = |of: &saltation::mechanics::ContactParameters| {
        assert!(scene.contact_of(of.contact).is_some());
        (of.contact, of.gap)
    };
    contacts.all_parameters().iter().map(known).collect()
}

/// The scene with these groups, and those touched, for each body.
fn with_groups(scene: &Scene, groups: &[(u32, u32)]) -> Scene {
    let mut grouped = Scene::new();
    for (body, &(own, touched)) in groups.iter().enumerate() {
        let body = scene.body(body).unwrap().clone();
        grouped.add(body.groups(own).touching(touched)).unwrap();
    }
    grouped
}

/// Each must be in a group that the other touches; few bodies and many, as the search differs.
#[test]
fn contacts_are_those_of_all_bodies_but_of_pairs_that_a_side_refuses() {
    let (mut kept, mut refused) = (0, 0);
    for (seed, count) in [(1, 5), (2, 12), (3, 40), (4, 90)] {
        let scene = heap(count, 1.0, seed);
        let mut draw = SplitMix64(seed + 100);
        let mut bits = || [(); 3].iter().fold(0, |b, ()| b | 1 << (draw.next() % 6));
        let groups: Vec<(u32, u32)> = (0..scene.len()).map(|_| (bits(), bits())).collect();
        let grouped = with_groups(&scene, &groups);
        let touches = |contact: usize| {
            let (a, b, _) = scene.contact_of(contact).unwrap();
            let (of_a, of_b) = (groups[a], groups[b]);
            of_a.0 & of_b.1 != 0 && of_b.0 & of_a.1 != 0
        };
        let (_, v) = scene.start();
        let velocities = [&v[..]];
        let reachable = ContactSet::Reachable(Reach::new(&velocities, 0.01, 1e-3));
        for set in [ContactSet::Within(0.1), reachable] {
            let all = list(&scene, &filled(&scene, set));
            let (expected, others): (Vec<_>, Vec<_>) =
                all.into_iter().partition(|(contact, _)| touches(*contact));
            assert_eq!(list(&grouped, &filled(&grouped, set)), expected, "{seed}");
            kept += expected.len();
            refused += others.len();
            for (contact, _) in others {
                assert_eq!(grouped.contact_of(contact), None);
                let (q, _) = grouped.start();
                let listed = [contact];
                let found = grouped.fill(
                    &q,
                    ContactSet::Listed(&listed),
                    Wanted::default(),
                    &mut Contacts::new(),
                );
                assert!(matches!(found, Err(InputError::NoSuch { .. })));
            }
        }
    }
    assert!(kept > 100 && refused > 100, "{kept} {refused}");
}

#[test]
fn a_pair_is_ignored_and_refused_whichever_side_says_so() {
    let ball = |x: f64| Body::new(Shape::sphere(0.1).unwrap()).position([x, 0.0, 0.0]);
    let contacts_of = |a: Body, b: Body, ignored: bool| {
        let mut scene = Scene::new();
        scene.add(a).unwrap();
        scene.add(b).unwrap();
        if ignored {
            scene.ignore(1, 0).unwrap();
        }
        filled(&scene, ContactSet::Within(0.1)).len()
    };
    let (one, other) = (ball(0.0), ball(0.1));
    assert_eq!(contacts_of(one.clone(), other.clone(), false), 1);
    assert_eq!(contacts_of(one.clone(), other.clone(), true), 0);
    // One that says yes is not enough.
    let ghost = other.clone().touching(0);
    assert_eq!(contacts_of(one.clone(), ghost.clone(), false), 0);
    assert_eq!(contacts_of(ghost, one.clone(), false), 0);
    let seen = other.groups(8).touching(3);
    assert_eq!(contacts_of(one.clone().touching(8), seen.clone(), false), 1);
    let apart = one.groups(4).touching(8);
    assert_eq!(contacts_of(apart, seen, false), 0);
}

/// The fixed list of contacts leaves out what passes through, and does not refuse its shapes;
/// queries see all bodies.
#[test]
fn fixed_contacts_follow_groups_and_queries_do_not() {
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::plane())).unwrap();
    let cube = || Body::new(Shape::cuboid([0.1; 3]).unwrap());
    scene.add(cube().groups(2).touching(1)).unwrap();
    scene.add(cube().groups(2).touching(1)).unwrap();
    assert_eq!(scene.fixed_contacts().unwrap().number(16), None);
    assert!(scene.fixed_contacts().unwrap().number(15).is_some()); // two cubes of eight corners
    let (q, _) = scene.start();
    let (mut memory, mut bodies) = (QueryMemory::new(), Vec::new());
    let query = scene.query(&q, &mut memory).unwrap();
    query.overlaps(1, &mut bodies).unwrap();
    assert_eq!(bodies, [0, 2]);
    scene.add(cube().touching(0)).unwrap();
    let without = scene.fixed_contacts().unwrap();
    assert!(without.number(15).is_some() && without.number(16).is_none());
    assert_eq!(scene.dof(), 18);
}
