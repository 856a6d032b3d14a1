import { type Html, html } from './html.ts'

/** A whole HTML document. `head` is what it needs beside the title. */
export const htmlDocument = (title: string, head: Html, body: Html): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Agent Market</title>
${head}
</head>
<body>
${body}
</body>
</html>
`.html

export const stylesheet = (path: string): Html => html`<link rel="stylesheet" href="${path}">`
