/** Our colours and fonts for Scalar. */
export const SCALAR_STYLE = ``
