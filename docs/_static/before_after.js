// The line between two pictures follows the slider that lies over them.
document.addEventListener("input", (event) => {
  const pair = event.target.closest(".before-after");
  if (pair) pair.style.setProperty("--at", `${event.target.value}%`);
});
