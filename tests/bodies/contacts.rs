//! The contacts of a configuration.

use saltation::InputError;
use saltation::bodies::{Body, Manifold, Scene, Shape, contact_points};
use saltation::mechanics::{ContactSet, ContactSource, Contacts, MechanicalSystem, Reach, Wanted};

use crate::fixtures::heap;
use crate::random::SplitMix64;

const ALL: Wanted<'_> = {
    let mut wanted = NOTHING;
    wanted.friction = true;
    wanted.compliance = true;
    wanted
};
const NOTHING: Wanted<'_> = Wanted {
    friction: false,
    slips_at: None,
    restitution_at: None,
    compliance: false,
};

fn filled(scene: &Scene, q: &[f64], set: ContactSet<'_>) -> Contacts {
    let mut contacts = Contacts::new();
    scene.fill(q, set, ALL, &mut contacts).unwrap();
    contacts
}

fn numbers(contacts: &Contacts) -> Vec<usize> {
    contacts
        .all_parameters()
        .iter()
        .map(|of| of.contact)
        .collect()
}

/// The normal rate and the slips of a contact.
fn velocity(contacts: &Contacts, i: usize, v: &[f64]) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for block in contacts.blocks(i) {
        for (sum, row) in sum.iter_mut().zip(block.rows.chunks_exact(block.width)) {
            let v = &v[block.start..block.start + block.width];
            *sum += row.iter().zip(v).map(|(a, b)| a * b).sum::<f64>();
        }
    }
    sum
}

#[test]
fn contacts_within_a_margin_are_those_of_all_pairs() {
    for (seed, count) in [(1, 5), (2, 12), (3, 40), (4, 90)] {
        let mut scene = heap(count, 1.0, seed);
        scene.ignore(2, 3).unwrap();
        let (q, _) = scene.start();
        for margin in [0.0, 0.02, 0.3, -0.01, f64::INFINITY] {
            let contacts = filled(&scene, &q, ContactSet::Within(margin));
            let mut expected = Vec::new();
            for j in 0..scene.len() {
                for i in 0..j {
                    let (a, b) = if i == 0 { (j, i) } else { (i, j) };
                    if (i, j) == (2, 3) || (scene.tree_of(i), scene.tree_of(j)) == (None, None) {
                        continue;
                    }
                    let mut manifold = Manifold::new();
                    let pose = |body| scene.pose(body, &q).unwrap();
                    let of = |body: usize| scene.body(body).unwrap().shape();
                    contact_points((of(a), &pose(a)), (of(b), &pose(b)), margin, &mut manifold)
                        .unwrap();
                    expected.extend(manifold.points().iter().map(|p| (a, b, p.feature, p.gap)));
                }
            }
            let mut found: Vec<_> = contacts
                .all_parameters()
                .iter()
                .map(|of| {
                    let (a, b, feature) = scene.contact_of(of.contact).unwrap();
                    (a, b, feature, of.gap)
                })
                .collect();
            let order = |x: &(usize, usize, usize, f64), y: &(usize, usize, usize, f64)| {
                (x.0, x.1, x.2).cmp(&(y.0, y.1, y.2))
            };
            expected.sort_by(order);
            found.sort_by(order);
            assert_eq!(found, expected, "{seed} {margin}");
            assert!(margin <= 0.0 || !found.is_empty());
        }
    }
}

#[test]
fn rows_are_rates_of_gaps_and_slips_of_the_same_point() {
    let mut checked = 0;
    for seed in 0..10 {
        let scene = heap(6, 0.5, seed);
        let (q, v) = scene.start();
        let contacts = filled(&scene, &q, ContactSet::Within(0.1));
        let step = 1e-6;
        let ahead = |h: f64| {
            let mut rate = vec![0.0; q.len()];
            scene.configuration_rate(&q, &v, &mut rate);
            let mut q = q.clone();
            q.iter_mut().zip(&rate).for_each(|(q, rate)| *q += h * rate);
            let list = numbers(&contacts);
            let mut near = Contacts::new();
            scene
                .fill(&q, ContactSet::Listed(&list), NOTHING, &mut near)
                .unwrap();
            assert_eq!(numbers(&near), list);
            near.all_parameters()
                .iter()
                .map(|of| of.gap)
                .collect::<Vec<_>>()
        };
        let (after, before) = (ahead(step), ahead(-step));
        for (i, of) in contacts.all_parameters().iter().enumerate() {
            let (a, b, feature) = scene.contact_of(of.contact).unwrap();
            // Corners of faces that slide over tilted faces have gaps that change by that too.
            let slides = feature >= 160 && (feature - 160) % 24 >= 4;
            if slides {
                continue;
            }
            let [rate, first, second] = velocity(&contacts, i, &v);
            assert!(
                (rate - (after[i] - before[i]) / (2.0 * step)).abs() < 1e-6,
                "{of:?}"
            );
            // Slip and rate are the components of one relative velocity.
            let bodies = contacts.blocks(i).count();
            assert_eq!(
                bodies,
                [a, b]
                    .iter()
                    .filter(|&&k| scene.tree_of(k).is_some())
                    .count()
            );
            assert!(first.is_finite() && second.is_finite());
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked}");
}

#[test]
fn listed_contacts_are_the_same_contacts() {
    let scene = heap(30, 0.7, 7);
    let (q, _) = scene.start();
    let contacts = filled(&scene, &q, ContactSet::Within(0.05));
    let list = numbers(&contacts);
    let again = filled(&scene, &q, ContactSet::Listed(&list));
    assert_eq!(again.all_parameters(), contacts.all_parameters());
    for i in 0..list.len() {
        assert!(again.blocks(i).eq(contacts.blocks(i)));
    }
    let missing = [list[0], usize::MAX];
    let error = scene.fill(&q, ContactSet::Listed(&missing), ALL, &mut Contacts::new());
    assert!(
        matches!(
            error,
            Err(InputError::NoSuch {
                index: usize::MAX,
                ..
            })
        ),
        "{error:?}"
    );
}

#[test]
fn reachable_contacts_are_filtered_from_all() {
    for seed in 0..10 {
        let scene = heap(30, 1.5, seed);
        let (q, v) = scene.start();
        let (dt, least) = (0.005, 1e-3);
        let velocities = [&*v];
        let mut step = Reach::new(&velocities, dt, least);
        step.cushions = true;
        let set = ContactSet::Reachable(step);
        let found = filled(&scene, &q, set);
        // Manifolds of other margins may choose other points; compare pairs of bodies.
        let pairs = |contacts: &Contacts, keep: &dyn Fn(usize) -> bool| {
            let kept = (0..contacts.len()).filter(|&i| keep(i));
            let mut pairs: Vec<_> = kept
                .map(|i| {
                    scene
                        .contact_of(contacts.parameters(i).unwrap().contact)
                        .unwrap()
                })
                .map(|(a, b, _)| (a, b))
                .collect();
            pairs.sort_unstable();
            pairs.dedup();
            pairs
        };
        let reaches = |contacts: &Contacts, i: usize| {
            let of = contacts.parameters(i).unwrap();
            let [n, s, t] = velocity(contacts, i, &v);
            let speed = of.friction * s.hypot(t) + (-n).max(0.0);
            of.gap <= least.max(1.5 * (dt + of.dissipation_time) * speed)
        };
        assert!((0..found.len()).all(|i| reaches(&found, i)) && !found.is_empty());
        let all = filled(&scene, &q, ContactSet::Within(0.3));
        let expected = pairs(&all, &|i| reaches(&all, i));
        assert_eq!(pairs(&found, &|_| true), expected, "{seed}");
    }
}

#[test]
fn parameters_and_contact_points_follow_the_materials_and_the_option() {
    let mut scene = Scene::new();
    let ground = Body::fixed(Shape::plane())
        .friction(0.6)
        .stiffness(3e4)
        .dissipation_time(0.05);
    scene.add(ground).unwrap();
    let ball = Body::new(Shape::sphere(0.1).unwrap())
        .friction(0.2)
        .stiffness(1e4);
    scene.add(ball.position([0.0, 0.0, 0.09])).unwrap();
    let (q, _) = scene.start();
    let arm = |scene: &Scene| {
        let contacts = filled(scene, &q, ContactSet::Within(0.0));
        let of = contacts.parameters(0).unwrap();
        assert!((of.friction - 0.3).abs() < 1e-15 && (of.stiffness - 7500.0).abs() < 1e-9);
        assert!((of.dissipation_time - 0.02).abs() < 1e-15 && (of.gap + 0.01).abs() < 1e-15);
        let block = contacts.blocks(0).next().unwrap();
        // The slip along x is that of the lowest point, v_x − r ω_y.
        assert!((block.rows[6 + 3] - 1.0).abs() < 1e-15);
        -block.rows[6 + 1]
    };
    assert!((arm(&scene) - 0.1).abs() < 1e-15);
    scene.middle_points(true);
    assert!((arm(&scene) - 0.095).abs() < 1e-15);
    let bare = {
        let mut contacts = Contacts::new();
        scene
            .fill(&q, ContactSet::Within(0.0), NOTHING, &mut contacts)
            .unwrap();
        *contacts.parameters(0).unwrap()
    };
    assert_eq!((bare.friction, bare.stiffness), (0.0, f64::INFINITY));
}

#[test]
fn stacked_cubes_have_four_contacts_at_each_interface() {
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::plane())).unwrap();
    for i in 0..5 {
        let cube = Body::new(Shape::cuboid([0.05; 3]).unwrap());
        scene
            .add(cube.position([0.0, 0.0, 0.05 + 0.1 * f64::from(i)]))
            .unwrap();
    }
    let (q, _) = scene.start();
    let contacts = filled(&scene, &q, ContactSet::Within(1e-3));
    assert_eq!(contacts.len(), 20);
    assert!(scene.deepest_overlap(&q, &mut Contacts::new()).unwrap() < 1e-15);
    // The root mean square of the nine entries of J M⁻¹ Jᵀ: √61.5/3 /m on the ground, √210/3 /m
    // between cubes, whatever the length of an edge.
    let mut mass = [0.0; 36];
    for i in 0..20 {
        let mut w = [[0.0; 3]; 3];
        for block in contacts.blocks(i) {
            scene.tree_mass(block.tree, &q, &mut mass);
            for (r, row) in block.rows.chunks_exact(6).enumerate() {
                for (s, other) in block.rows.chunks_exact(6).enumerate() {
                    w[r][s] += (0..6).map(|k| row[k] * other[k] / mass[7 * k]).sum::<f64>();
                }
            }
        }
        let norm = w.as_flattened().iter().map(|w| w * w).sum::<f64>().sqrt() / 3.0;
        let expected: f64 = if i < 4 { 61.5 } else { 210.0 };
        assert!((norm - expected.sqrt() / 3.0).abs() < 1e-12, "{i}: {norm}");
    }
}

#[test]
fn bad_configurations_are_refused() {
    let scene = heap(3, 1.0, 1);
    let (q, v) = scene.start();
    let mut contacts = Contacts::new();
    let mut fill = |q: &[f64], set| scene.fill(q, set, ALL, &mut contacts);
    assert!(matches!(
        fill(&q[1..], ContactSet::Within(0.0)),
        Err(InputError::WrongLength { .. })
    ));
    assert!(fill(&q, ContactSet::Within(f64::NAN)).is_err());
    let mut wrong = q.clone();
    wrong[9] = f64::NAN;
    let error = fill(&wrong, ContactSet::Within(0.0));
    assert!(
        matches!(error, Err(InputError::NotFinite { entry: 9, .. })),
        "{error:?}"
    );
    wrong.clone_from(&q);
    wrong[10..14].fill(0.0);
    let error = fill(&wrong, ContactSet::Within(0.0));
    assert!(
        matches!(error, Err(InputError::BadSetting { entry: 1, .. })),
        "{error:?}"
    );
    for (v, dt, least) in [(&v[1..], 0.1, 0.0), (&*v, f64::NAN, 0.0), (&*v, 0.1, -1.0)] {
        let velocities = [v];
        let step = Reach::new(&velocities, dt, least);
        let mut contacts = Contacts::new();
        let set = ContactSet::Reachable(step);
        assert!(scene.fill(&q, set, ALL, &mut contacts).is_err());
    }
}

#[test]
fn shuffled_far_bodies_make_no_contacts_and_no_trouble() {
    let mut scene = Scene::new();
    let mut draw = SplitMix64(9);
    for i in 0..200 {
        let far = if i % 2 == 0 { 1e12 } else { 1e3 };
        let body = Body::new(Shape::sphere(0.1).unwrap());
        let at = [(); 3].map(|()| draw.between(-far, far));
        scene.add(body.position(at)).unwrap();
    }
    let (q, _) = scene.start();
    assert!(filled(&scene, &q, ContactSet::Within(0.1)).is_empty());
}

#[test]
fn contacts_do_not_depend_on_those_before() {
    let scene = heap(80, 1.0, 11);
    let (q, v) = scene.start();
    let (mut moved, mut reused) = (q.clone(), Contacts::new());
    for (k, q) in moved.iter_mut().enumerate() {
        *q += 0.05 * (k as f64).sin();
    }
    let (dt, least) = (0.01, 1e-3);
    let velocities = [&*v];
    let sets = [
        ContactSet::Within(0.05),
        ContactSet::Reachable(Reach::new(&velocities, dt, least)),
    ];
    for set in sets {
        for q in [&q, &moved, &q] {
            scene.fill(q, set, ALL, &mut reused).unwrap();
            let fresh = filled(&scene, q, set);
            assert_eq!(reused.all_parameters(), fresh.all_parameters());
            for i in 0..fresh.len() {
                assert!(reused.blocks(i).eq(fresh.blocks(i)));
            }
        }
    }
}
