// Elements are calls of h: an array of children and its name in each would be a hundredth of the script.
export { Fragment, h } from "preact"
