// A button that copies each block of code, where the browser lets pages copy.
if (navigator.clipboard)
  for (const code of document.querySelectorAll('pre > code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Copy';
    button.ariaLive = 'polite';
    button.onclick = async () => {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = 'Copied';
      setTimeout(() => (button.textContent = 'Copy'), 2_000);
    };
    code.before(button);
  }
