//! Contacts that are given by a point and a normal, against those of a scene.

use saltation::InputError;
use saltation::bodies::{FreeContact, contact_point};
use saltation::mechanics::{
    ContactParameters, ContactSet, ContactSource, Contacts, MechanicalSystem, Reach, Wanted,
};

use crate::fixtures::heap;

/// The contacts of a heap, with the points that the scene chooses.
#[test]
fn contacts_of_a_scene_have_the_same_rows() {
    let scene = heap(12, 0.4, 3);
    let (q, _) = scene.start();
    let wanted = Wanted {
        friction: true,
        compliance: true,
        ..Wanted::default()
    };
    let mut expected = Contacts::new();
    scene
        .fill(&q, ContactSet::Within(0.02), wanted, &mut expected)
        .unwrap();
    assert!(expected.len() > 10);
    let mut found = Contacts::new();
    found.reset(scene.dof(), 2).unwrap();
    for &parameters in expected.all_parameters() {
        let (a, b, feature) = scene.contact_of(parameters.contact).unwrap();
        let of = |body: usize| {
            (
                scene.body(body).unwrap().shape(),
                scene.pose(body, &q).unwrap(),
            )
        };
        let (one, two) = (of(a), of(b));
        let point = contact_point((one.0, &one.1), (two.0, &two.1), feature).unwrap();
        let tree = |body: usize| {
            let tree = scene.tree_of(body)?;
            Some((tree, scene.position(body, &q)?.into()))
        };
        let at = if tree(b).is_none() {
            point.on_a
        } else {
            (point.on_a + point.on_b) * 0.5
        };
        let contact = FreeContact {
            parameters,
            point: at.into(),
            normal: point.normal.into(),
            a: tree(a).unwrap(),
            b: tree(b),
        };
        contact.push(&mut found).unwrap();
    }
    assert_eq!(found.all_parameters(), expected.all_parameters());
    for i in 0..expected.len() {
        let (found, expected): (Vec<_>, Vec<_>) =
            (found.blocks(i).collect(), expected.blocks(i).collect());
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!((found.tree, found.start), (expected.tree, expected.start));
            for (found, expected) in found.rows.iter().zip(expected.rows) {
                assert!((found - expected).abs() < 1e-14);
            }
        }
    }
}

#[test]
fn what_is_no_contact_is_refused_and_adds_nothing() {
    let contact = FreeContact {
        parameters: ContactParameters::new(7, 0.0),
        point: [0.0; 3],
        normal: [0.0, 0.6, 0.8],
        a: (1, [0.0, 0.0, 0.1]),
        b: Some((0, [0.0, 0.0, -0.1])),
    };
    let mut contacts = Contacts::new();
    contacts.reset(12, 0).unwrap();
    let mut named = |contact: FreeContact, name: &str| {
        let refused = contact.push(&mut contacts);
        let Err(
            InputError::BadSetting {
                name: found, entry, ..
            }
            | InputError::NotFinite {
                name: found, entry, ..
            },
        ) = refused
        else {
            panic!("{refused:?}");
        };
        assert_eq!((found, entry), (name, 7));
        assert!(contacts.is_empty());
    };
    for normal in [
        [0.0; 3],
        [0.0, 0.0, 1.01],
        [0.0, 0.0, 0.99],
        [f64::NAN, 0.0, 1.0],
    ] {
        named(FreeContact { normal, ..contact }, "normal");
    }
    let point = [0.0, f64::INFINITY, 0.0];
    named(FreeContact { point, ..contact }, "contact point");
    let b = Some((1, [0.0; 3]));
    named(FreeContact { b, ..contact }, "tree of body B");
    let b = Some((0, [0.0, f64::NAN, 0.0]));
    named(FreeContact { b, ..contact }, "centre of mass");
    let a = (1, [f64::NAN; 3]);
    named(FreeContact { a, ..contact }, "centre of mass");
    let mut parameters = contact.parameters;
    parameters.stiffness = 0.0;
    named(
        FreeContact {
            parameters,
            ..contact
        },
        "stiffness",
    );
    for tree in [2, usize::MAX] {
        let a = (tree, [0.0; 3]);
        let refused = FreeContact { a, ..contact }.push(&mut contacts);
        assert!(matches!(refused, Err(InputError::NoSuch { .. })));
    }
    assert!(contacts.is_empty());
    // In single precision a unit vector has a length of 1 to 1e-7.
    let normal = [0.0, f64::from(0.6_f32), f64::from(0.8_f32)];
    FreeContact { normal, ..contact }
        .push(&mut contacts)
        .unwrap();
    assert_eq!((contacts.len(), contacts.blocks(0).count()), (1, 2));
    let row = contacts.blocks(0).next().unwrap().rows;
    let length: f64 = row[3..6].iter().map(|x| x * x).sum();
    assert!((length - 1.0).abs() < 1e-15);
    // Velocities of another length decide nothing.
    contacts.keep_last_if_reachable(&Reach::new(&[&[0.0; 3]], 0.01, -1.0));
    assert_eq!(contacts.len(), 1);
}
