"""Writes packages/identity/src/names/tables.ts from the Unicode data of ICU.

Run it with `npm run names:tables`. It needs PyICU: on Debian `apt-get install python3-icu`, then the Python that Debian
installs. Neither the tests nor CI run it. From the first release on, a change of CONFUSABLES needs a sweep that
computes both skeletons of every agent again: SQL cannot.
"""

import icu

OUTPUT = 'packages/identity/src/names/tables.ts'
COLUMNS = 108
DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz'

checker = icu.SpoofChecker()
recommended = checker.getRecommendedUnicodeSet()
nfd = icu.Normalizer2.getNFDInstance()
nfkd = icu.Normalizer2.getNFKDInstance()
# The characters that the contract allows in a name, beside the separators.
in_names = icu.UnicodeSet(r'[[:L:][:M:][:N:]]')
CHARACTERS = [
    chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000 and in_names.contains(chr(code))
]


def lower(text):
    return str(icu.UnicodeString(text).toLower(icu.Locale.getRoot()))


def skeleton(text):
    """The UTS-39 skeleton, in lower case, and again until it stays: `0` is `O` is `o`."""
    while True:
        # A final sigma is the same letter as a sigma.
        after = nfkd.normalize(lower(checker.getSkeleton(0, text)).replace('ς', 'σ'))
        if after == text:
            return text
        text = after


def confusables():
    """Only characters that are their own decomposition and differ from their lower-case letter."""
    found = {}
    letters = [(char, lower(char)) for char in CHARACTERS if nfkd.normalize(char) == char]
    for char, same in sorted(letters, key=lambda letter: letter[0] != letter[1]):
        target = skeleton(char)
        if target != found.get(same, same):
            found[char] = target
    return found


def base36(number):
    return DIGITS[number] if number < 36 else base36(number // 36) + DIGITS[number % 36]


def steps(numbers):
    """Each number as its distance from the one before."""
    return [base36(number - before) for before, number in zip([0, *numbers], numbers)]


def grouped(pairs):
    groups = {}
    for char, target in pairs.items():
        groups.setdefault(target, []).append(ord(char))
    for target, codes in sorted(groups.items(), key=lambda group: min(group[1])):
        yield '+'.join(base36(ord(char)) for char in target) + '=' + ','.join(steps(sorted(codes)))


def ranges():
    codes = {ord(char) for char in CHARACTERS if recommended.contains(char)}
    edges = [code for code in codes if code - 1 not in codes] + [code for code in codes if code + 1 not in codes]
    return steps(sorted(edges))


def wrapped(tokens):
    lines = ['']
    for token in tokens:
        if lines[-1] and len(lines[-1]) + 1 + len(token) > COLUMNS:
            lines.append('')
        lines[-1] += (' ' if lines[-1] else '') + token
    return '`\n' + '\n'.join(lines) + '`'


def main():
    pairs = confusables()
    with open(OUTPUT, 'w', encoding='ascii') as output:
        output.write(f"""// Written by `npm run names:tables` from ICU {icu.ICU_VERSION}, Unicode {icu.UNICODE_VERSION}.

/**
 * UTS-39 confusable characters: `target=source,source`, code points in base 36. A source is written as its distance
 * from the one before.
 */
export const CONFUSABLES = {wrapped(grouped(pairs))}

/** UTS-39 identifier status "Allowed": first and last of each range, each as the distance from the number before. */
export const ALLOWED = {wrapped(ranges())}
""")
    print(f'{OUTPUT}: {len(pairs)} confusable characters')


main()
