//! A function whose code begins with an inlined call: the compiler counts the instruction that saves
//! a register at its entry as code of the call. For the unit tests of places: see make_shapes.sh.

pub struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

#[inline(always)]
fn line<'a>(from: &mut Cursor<'a>) -> Result<&'a [u8], String> {
    let start = from.at;
    let end = from.text.len() - 1;

    for i in start..end {
        if from.text[i] == b'\r' && from.text[i + 1] == b'\n' {
            from.at = i + 2;
            return Ok(&from.text[start..i]);
        }
    }
    Err(String::new())
}

#[no_mangle]
pub fn entry(from: &mut Cursor<'_>) -> Result<u64, String> {
    let line = line(from)?;

    let mut number = 0;
    for digit in line {
        if !digit.is_ascii_digit() {
            return Err(String::from("no digit"));
        }
        number = number * 10 + u64::from(digit - b'0');
    }
    Ok(number)
}
