/** Spreadsheet programs run a cell as a formula that begins with one of these, also in full width or after spaces. */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/

const quoted = (text: string): string => `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`

/** So that spreadsheet programs read it as UTF-8. */
const MARK = '\uFEFF'

/** A table as CSV (RFC 4180). What would be a formula gets an apostrophe, with which spreadsheet programs show it as text. */
export const csvOf = (rows: readonly (readonly string[])[]): string =>
  MARK + rows.map((row) => `${row.map(quoted).join(',')}\r\n`).join('')
