def label: .tray | ascii_upcase;
[.rows[] | select(.loaves > 0) | {tray: label, order, loaves}]
