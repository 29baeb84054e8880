//! Scalars, texts, tuples, structs, enums, arrays and slices.

use tokio::time::sleep;
use truth::{here, locals, used, FOREVER};

pub async fn scalars() {
    let yes = true;
    let letter = 'x';
    let quote = '\'';
    let umlaut = 'ü';
    let tiny: i8 = -128;
    let byte: u8 = 255;
    let short: i16 = -2;
    let word: u32 = 4_000_000_000;
    let long: i64 = i64::MIN;
    let size: usize = usize::MAX;
    let huge: u128 = u128::MAX;
    let deep: i128 = i128::MIN;
    let unit = ();
    let positive = std::num::NonZeroU16::new(7).unwrap();
    let number = std::num::Wrapping(9u8);
    locals! { "locals::plain::scalars" =>
        yes, letter, quote, umlaut, tiny, byte, short, word, long, size, huge, deep, unit,
        positive, number
    }
    here!("locals::plain::scalars");
    sleep(FOREVER).await;
    used!(yes, letter, quote, umlaut, tiny, byte, short, word, long, size, huge, deep, unit);
    used!(positive, number);
}

pub async fn floats() {
    let one = 1.0f64;
    let third = 1.0f64 / 3.0;
    let tenth = 0.1f32;
    let large = 1e16f64;
    let below = 123_456_789_012_345.6f64;
    let small = 0.00001f64;
    let edge = 0.0001f32;
    let minus = -0.0f64;
    let most = f64::MAX;
    let least = f32::MIN_POSITIVE;
    let endless = f64::NEG_INFINITY;
    let nan = f32::NAN;
    locals! { "locals::plain::floats" =>
        one, third, tenth, large, below, small, edge, minus, most, least, endless, nan
    }
    here!("locals::plain::floats");
    sleep(FOREVER).await;
    used!(one, third, tenth, large, below, small, edge, minus, most, least, endless, nan);
}

pub async fn texts() {
    let empty = String::new();
    let owned = "tab\t quote\" nul\0 bell\u{7} ü \u{1f980} 'single' back\\".to_string();
    let borrowed = "a literal";
    let part = &owned[..3];
    let boxed: Box<str> = "boxed".into();
    let shared: std::sync::Arc<str> = "shared".into();
    let maybe: Option<&str> = Some("maybe");
    let cow: std::borrow::Cow<'static, str> = std::borrow::Cow::Borrowed("cow");
    let own_cow: std::borrow::Cow<'static, str> = std::borrow::Cow::Owned("own".to_string());
    locals! { "locals::plain::texts" =>
        empty, owned, borrowed, part, boxed, shared, maybe, cow, own_cow
    }
    here!("locals::plain::texts");
    sleep(FOREVER).await;
    used!(empty, owned, borrowed, part, boxed, shared, maybe, cow, own_cow);
}

#[allow(dead_code)]
#[derive(Debug)]
struct Point {
    x: i32,
    y: i32,
}

#[allow(dead_code)]
#[derive(Debug)]
struct Pair(u8, String);

#[derive(Debug)]
struct Unit;

#[allow(dead_code)]
#[derive(Debug)]
struct Outer<'a, T> {
    name: String,
    place: Point,
    inner: Option<Box<Outer<'a, T>>>,
    reference: &'a T,
    list: Vec<T>,
}

pub async fn compounds() {
    let single = (1u8,);
    let triple = (1u8, "two", 3.5f32);
    let point = Point { x: -1, y: 2 };
    let pair = Pair(3, "three".to_string());
    let nothing = Unit;
    let seven = 7u16;
    let inner = Outer {
        name: "inner".to_string(),
        place: Point { x: 1, y: 2 },
        inner: None,
        reference: &seven,
        list: vec![],
    };
    let outer = Outer {
        name: "outer".to_string(),
        place: Point { x: 3, y: 4 },
        inner: Some(Box::new(inner)),
        reference: &seven,
        list: vec![5, 6],
    };
    let nested = ((1u8, 2u16), [(3u32, true)]);
    locals! { "locals::plain::compounds" =>
        single, triple, point, pair, nothing, outer, nested
    }
    here!("locals::plain::compounds");
    sleep(FOREVER).await;
    used!(single, triple, point, pair, nothing, seven, outer, nested);
}

#[derive(Debug)]
#[allow(dead_code)]
enum Shape {
    Empty,
    Circle(f64),
    Rect { width: u32, height: u32 },
}

#[derive(Debug)]
#[allow(dead_code)]
enum Color {
    Red = 1,
    Green = 5,
    Blue = -1,
}

pub async fn enums() {
    let some = Some(5u32);
    let none: Option<String> = None;
    let reference = Some(&some);
    let ok: Result<u8, String> = Ok(1);
    let err: Result<u8, String> = Err("no".to_string());
    let empty = Shape::Empty;
    let circle = Shape::Circle(2.5);
    let rect = Shape::Rect { width: 3, height: 4 };
    let green = Color::Green;
    let blue = Color::Blue;
    let twice = Some(Some(false));
    let never: Result<u8, std::convert::Infallible> = Ok(9);
    let order = std::cmp::Ordering::Less;
    let poll: std::task::Poll<u8> = std::task::Poll::Pending;
    locals! { "locals::plain::enums" =>
        some, none, reference, ok, err, empty, circle, rect, green, blue, twice, never, order,
        poll
    }
    here!("locals::plain::enums");
    sleep(FOREVER).await;
    used!(some, none, reference, ok, err, empty, circle, rect, green, blue, twice, never, order);
    used!(poll);
}

pub async fn sequences() {
    let array = [1u16, 2, 3];
    let nothing: [u8; 0] = [];
    let matrix = [[1u8, 2], [3, 4]];
    let list = vec!["one".to_string(), "two".to_string()];
    let no_list: Vec<u64> = Vec::new();
    let units = vec![(), ()];
    let slice = &array[1..];
    let boxed: Box<[u8]> = vec![9, 8].into_boxed_slice();
    let shared: std::sync::Arc<[u16]> = vec![7, 6].into();
    let many: Vec<u8> = (0..100).collect();
    let reference = &list;
    locals! { "locals::plain::sequences" =>
        array, nothing, matrix, list, no_list, units, slice, boxed, shared, reference
    }
    here!("locals::plain::sequences");
    sleep(FOREVER).await;
    used!(array, nothing, matrix, list, no_list, units, slice, boxed, shared, many, reference);
}

pub async fn arguments(number: u32, text: String, slice: &'static [u8]) {
    locals! { "locals::plain::arguments" =>
        number, text, slice
    }
    here!("locals::plain::arguments");
    sleep(FOREVER).await;
    used!(number, text, slice);
}
